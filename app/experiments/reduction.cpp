#include "experiments/reduction.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "compute/block_trace.h"
#include "compute/emulated_device.h"
#include "emulator/splitmix64.h"

namespace warpscope::experiments {
namespace {

constexpr std::int64_t max_n = std::int64_t(1) << 28;

const std::vector<Choice::Word> variants{
    {"sum_within_block", "sumWithinBlock"},
    {"reduce0", "interleaved"},
    {"sequential", "sequential addressing"},
    {"first_add", "first add on load"},
    {"shuffle", "warp shuffle"},
};

std::string kernel_name(std::size_t variant) {
    const std::string& id = variants[variant].id;
    return variant < 2 ? id : "reduce_" + id;
}

}  // namespace

float reduction_input(std::uint64_t i) {
    // The sum of four uniform 16-bit numbers: of mean 131070 and deviation 65536 / sqrt(3).
    const std::uint64_t bits = emulator::splitmix64(i * emulator::splitmix64_step);
    const auto sum =
        int((bits & 0xffff) + (bits >> 16 & 0xffff) + (bits >> 32 & 0xffff) + (bits >> 48));
    return float(sum - 131070) / 37837.0f;
}

Reduction::Inputs::Inputs(compute::Device& device, std::int64_t n)
    : values(device, std::size_t(n)) {
    constexpr std::int64_t chunk = 1 << 20;
    std::vector<float> some;
    for (std::int64_t begin = 0; begin < n; begin += chunk) {
        some.resize(std::size_t(std::min(chunk, n - begin)));
        for (std::size_t i = 0; i < some.size(); ++i) {
            some[i] = reduction_input(std::uint64_t(begin) + i);
            sum += double(some[i]);
            magnitudes += std::abs(double(some[i]));
        }
        device.upload((values.pointer() + std::size_t(begin)).address, some.data(),
                      some.size() * sizeof(float));
    }
}

Reduction::Reduction(compute::Device& device)
    : Experiment(device),
      kernel_(declare(), "kernel", "Kernel", "A step of the ladder.", variants),
      n_(declare(), "n", "Elements", "Floats to add up.", 1 << 20, 1, max_n),
      block_(declare(), "block", "Block", "Threads of a block, any number.", 256, 1, 1024) {
    for (std::size_t i = 0; i < variants.size(); ++i)
        sums_.push_back(device.kernel<Floats, Floats, unsigned>("reduce", kernel_name(i)));
    inputs_.emplace(device, n_);
    partials_ = compute::Buffer<float>(device, std::size_t((n_ + block_ - 1) / block_));
}

void Reduction::changed(std::span<Parameter* const> which) {
    // Enough for every variant: the others need half as many.
    const std::int64_t blocks = (n_ + block_ - 1) / block_;
    require_memory(device(), n_, sizeof(float) * (1.0 + 1.0 / double(block_)));
    compute::Buffer<float> partials(device(), std::size_t(blocks));
    if (std::find(which.begin(), which.end(), &n_) != which.end()) inputs_ = Inputs(device(), n_);
    partials_ = std::move(partials);
    launched_ = false;
    tree_.reset();
}

void Reduction::launch_kernel() {
    device().begin_frame(frame());
    launch(kernel_.as<Variant>());
}

void Reduction::do_step() {
    device().begin_frame(frame() + 1);
    launch(kernel_.as<Variant>());
}

void Reduction::do_reset() {
    launched_ = false;
}

compute::Shape Reduction::shape(Variant variant) const {
    const bool two_each = variant == Variant::first_add || variant == Variant::shuffle;
    const std::int64_t share = block_ * (two_each ? 2 : 1);
    const bool dynamic = variant != Variant::sum_within_block && variant != Variant::shuffle;
    return {.grid = {unsigned((n_ + share - 1) / share)},
            .block = {unsigned(block_)},
            .shared_bytes = dynamic ? unsigned(block_ * sizeof(float)) : 0};
}

double Reduction::error_bound(Variant variant) const {
    // The tree's steps, an addition on the way in, and for the shuffle a tree of warps whose steps
    // are rounded up apart. The host adds in double.
    const int steps = tree_steps(unsigned(block_)) + 1 + (variant == Variant::shuffle ? 1 : 0);
    return float_error_bound(steps);
}

double Reduction::relative_error(double value) const {
    const double error = std::abs(value - inputs_->sum);
    return inputs_->magnitudes == 0 ? error : error / inputs_->magnitudes;
}

compute::Work Reduction::work(Variant variant) const {
    return {.bytes = 4.0 * (double(n_) + shape(variant).grid.x), .flops = double(n_)};
}

void Reduction::launch(Variant variant) {
    device().launch(sums_[std::size_t(variant)], shape(variant), work(variant),
                    inputs_->values.pointer(), partials_.pointer(), unsigned(n_));
    launched_ = true;
    value_.reset();
}

double Reduction::value_of(Variant variant) const {
    const std::vector<float> partials = partials_.download();
    double sum = 0;
    for (unsigned i = 0; i < shape(variant).grid.x; ++i) sum += double(partials[i]);
    return sum;
}

Report Reduction::report() {
    const Variant variant = kernel_.as<Variant>();
    if (!launched_) {
        device().begin_frame(frame());
        launch(variant);
    }
    if (!value_) value_ = value_of(variant);
    const double error = relative_error(*value_);
    const double bound = error_bound(variant);
    const bool right = error <= bound;
    const compute::KernelTiming* timing = device().timings().find(kernel_name(kernel_.index()));
    const double bandwidth = timing ? timing->bytes_per_second() : 0.0;

    Report report;
    report.push_back({"value", "Value", *value_, "", inputs_->sum, Verdict::none, {}});
    report.push_back(
        {"relative_error", "Relative error", error, "", 0.0, right ? Verdict::pass : Verdict::fail,
         fmt::format("Relative to the sum of the magnitudes; float rounding explains up to {:.1e}.",
                     bound)});
    report.push_back({"bandwidth", "Bandwidth", bandwidth, "B/s", {}, Verdict::none, {}});
    return report;
}

std::optional<Comparison> Reduction::compare() {
    constexpr std::size_t launches = 9;
    Comparison comparison{"Kernels of the reduction", "B/s", "", {}};
    for (std::size_t i = 0; i < variants.size(); ++i) {
        const auto variant = Variant(i);
        for (std::size_t j = 0; j < launches; ++j) launch(variant);
        const double error = relative_error(value_of(variant));
        const double ms = newest_median_ms(device(), kernel_name(i), launches);
        comparison.rows.push_back({variants[i].id,
                                   variants[i].label,
                                   ms,
                                   ms > 0 ? work(variant).bytes / (ms / 1000) : 0.0,
                                   error,
                                   error <= error_bound(variant) ? Verdict::pass : Verdict::fail,
                                   {}});
    }
    launched_ = false;
    return comparison;
}

Tree Reduction::make_tree() {
    const auto emulator = compute::make_emulated_device("for the tree");
    emulator->set(device().settings());
    Reduction traced(*emulator);
    // Block 0 sums the first elements, in one thread's share of two at most.
    const std::int64_t n = std::min<std::int64_t>(n_, 2 * block_);
    const std::vector<Assignment> same{
        {"kernel", kernel_.text()}, {"n", std::to_string(n)}, {"block", block_.text()}};
    traced.set(same);
    const auto snapshots =
        compute::trace_block(*emulator, 0, [&] { traced.launch(kernel_.as<Variant>()); });
    const bool shuffle = kernel_.as<Variant>() == Variant::shuffle;
    const auto threads = std::size_t(block_);
    Tree tree;
    tree.rows =
        shuffle ? tree_rows(snapshots, (threads + 31) / 32, 32) : tree_rows(snapshots, threads);
    tree.title = fmt::format("{} of block 0, kernel {}, as the emulator runs it",
                             shuffle ? "Warp sums" : "Shared memory", kernel_name(kernel_.index()));
    return tree;
}

const Tree* Reduction::tree() {
    if (!tree_) tree_ = make_tree();
    return &*tree_;
}

}  // namespace warpscope::experiments
