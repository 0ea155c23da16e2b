#include "experiments/sums/reduction.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "compute/emulated/shared_memory_trace.h"
#include "compute/libraries/compared_libraries.h"
#include "emulator/warp/splitmix64.h"
#include "experiments/framework/experiment.h"
#include "experiments/measure/compared_kernels.h"
#include "experiments/sums/sums.h"

namespace warpscope::experiments {

ReductionParameters::ReductionParameters()
    : kernel(
          *this, "kernel", "Kernel",
          "Each kernel makes one change to the one before: neighbours are added first; the first "
          "threads add, without gaps between them; each thread adds two elements when it loads "
          "them; the lanes of a warp add with shuffles; each load reads 16 bytes, and the blocks "
          "just fill the GPU; the block that ends last adds the partial sums, so that one launch "
          "gives the total.",
          {{"sum_within_block", "sumWithinBlock"},
           {"reduce0", "interleaved"},
           {"sequential", "sequential addressing"},
           {"first_add", "first add on load"},
           {"shuffle", "warp shuffle"},
           {"vectorized", "float4 loads, GPU-sized grid"},
           {"single_pass", "single pass (last block adds the partial sums)"}}),
      n(*this, "n", "Elements", "Number of floats that are added.", 1 << 20, 1,
        std::int64_t(1) << 28),
      block(*this, "block", "Block",
            "Threads in each block. The kernels vectorized and single_pass round it up to whole "
            "warps.",
            256, 1, 1024) {
    group("Kernel", {&kernel, &n, &block});
}

double ReductionParameters::work() const {
    constexpr double element[] = {106, 149, 106, 57, 47, 6.6, 7.2};
    return double(n) * element[kernel.index()];
}

namespace {

/// Threads on each multiprocessor for the kernels from `vectorized` on: as many as it can hold.
constexpr unsigned busy_reduction_threads = 2048;

}  // namespace

float reduction_input(std::uint64_t i) {
    // The sum of four uniform 16-bit numbers has the mean 131070 and the deviation 65536 / sqrt(3).
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
        device.check_stop("the elements");
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
      single_pass_(device.kernel<Floats, Floats, unsigned, Floats, Ticket>(
          Parameters::file_of(Variant::single_pass), kernel_name(Variant::single_pass))),
      total_(device, 1),
      ticket_(device, 1) {
    for (std::size_t i = 0; i < std::size_t(Variant::single_pass); ++i)
        sums_.push_back(device.kernel<Floats, Floats, unsigned>(Parameters::file_of(Variant(i)),
                                                                kernel_name(Variant(i))));
    inputs_.emplace(device, chosen_.n);
    partials_ = compute::Buffer<float>(device, most_blocks());
    ticket_.fill(0);
}

void Reduction::changed(std::span<Parameter* const> which) {
    require_memory(device(), chosen_.n, sizeof(float) * (1.0 + 1.0 / double(chosen_.block)));
    compute::Buffer<float> partials(device(), most_blocks());
    if (any_of(which, {&chosen_.n})) inputs_ = Inputs(device(), chosen_.n);
    partials_ = std::move(partials);
    launched_ = false;
    tree_.reset();
}

void Reduction::launch_kernel() {
    device().begin_frame(frame());
    launch(chosen_.kernel);
}

std::vector<KnownResult> Reduction::known_results() {
    if (chosen_.kernel >= Variant::vectorized) return {};
    const compute::LaunchShape launch = shape(chosen_.kernel);
    const bool two_each =
        chosen_.kernel == Variant::first_add || chosen_.kernel == Variant::shuffle;
    const std::size_t share = launch.block.x * (two_each ? 2 : 1);
    // The elements have a mean magnitude below 1.
    return {{.name = "partial sum",
             .address = partials_.pointer().address,
             .type = launches::parse_element_type("float"),
             .shape = {launch.grid.x},
             .absolute = error_bound(chosen_.kernel) * double(share),
             .right = [this, launch, share] {
                 std::vector<double> sums(launch.grid.x);
                 for (std::size_t i = 0; i < std::size_t(chosen_.n); ++i)
                     sums[i / share] += double(reduction_input(i));
                 return launches::reals(sums);
             }}};
}

void Reduction::do_step() {
    device().begin_frame(frame() + 1);
    launch(chosen_.kernel);
}

void Reduction::do_reset() {
    launched_ = false;
    ticket_.fill(0);  // an interrupted launch may have left another value
}

std::string Reduction::kernel_name(Variant variant) const {
    const std::string& id = chosen_.kernel.words()[std::size_t(variant)].id;
    return variant < Variant::sequential ? id : "reduce_" + id;
}

GpuSizedGrid Reduction::gpu_sized_grid() const {
    return {device().info(), chosen_.n, unsigned(chosen_.block), busy_reduction_threads};
}

compute::LaunchShape Reduction::shape(Variant variant) const {
    if (variant >= Variant::vectorized) return gpu_sized_grid().shape();
    const bool two_each = variant == Variant::first_add || variant == Variant::shuffle;
    const std::int64_t share = chosen_.block * (two_each ? 2 : 1);
    const bool dynamic = variant != Variant::sum_within_block && variant != Variant::shuffle;
    return {.grid = {unsigned((chosen_.n + share - 1) / share)},
            .block = {unsigned(chosen_.block)},
            .dynamic_shared_bytes = dynamic ? unsigned(chosen_.block * sizeof(float)) : 0};
}

double Reduction::error_bound(Variant variant) const {
    const GpuSizedGrid grid = gpu_sized_grid();
    if (variant == Variant::vectorized) return float_error_bound(grid.additions);
    if (variant == Variant::single_pass)
        return float_error_bound(grid.additions + grid.last_additions);
    // The steps of the tree and one addition before it. The shuffle kernel has two trees, of lanes
    // and of warps, and the steps of each are rounded up. The host adds in double.
    const int steps =
        tree_steps(unsigned(chosen_.block)) + 1 + (variant == Variant::shuffle ? 1 : 0);
    return float_error_bound(steps);
}

double Reduction::relative_error(double value) const {
    const double error = std::abs(value - inputs_->sum);
    return inputs_->magnitudes == 0 ? error : error / inputs_->magnitudes;
}

compute::Work Reduction::work(Variant variant) const {
    return {.bytes = 4.0 * (double(chosen_.n) + shape(variant).grid.x), .flops = double(chosen_.n)};
}

void Reduction::launch(Variant variant) {
    launched_ = false;
    value_.reset();
    try {
        if (variant == Variant::single_pass)
            device().launch(single_pass_, shape(variant), work(variant), inputs_->values.pointer(),
                            partials_.pointer(), unsigned(chosen_.n), total_.pointer(),
                            ticket_.pointer());
        else
            device().launch(sums_[std::size_t(variant)], shape(variant), work(variant),
                            inputs_->values.pointer(), partials_.pointer(), unsigned(chosen_.n));
    } catch (const compute::Cancelled&) {
        ticket_.fill(0);
        throw;
    }
    launched_ = true;
}

double Reduction::value_of(Variant variant) {
    if (variant == Variant::single_pass) return double(total_.download()[0]);
    // The kernel stores this number of partial sums.
    std::vector<float> partials(shape(variant).grid.x);
    device().download(partials.data(), partials_.pointer().address,
                      partials.size() * sizeof(float));
    return std::accumulate(partials.begin(), partials.end(), 0.0);
}

Report Reduction::report() {
    const Variant variant = chosen_.kernel;
    if (!launched_) {
        device().begin_frame(frame());
        launch(variant);
    }
    if (!value_) value_ = value_of(variant);
    const double error = relative_error(*value_);
    const double bound = error_bound(variant);
    const bool right = error <= bound;
    const compute::KernelTiming* timing = device().timings().find(kernel_name(variant));
    const double bandwidth = timing ? timing->bytes_per_second() : 0.0;

    Report report;
    report.push_back({"value", "Value", *value_, "", inputs_->sum, Verdict::none, {}});
    report.push_back({"relative_error", "Relative error", error, "", 0.0,
                      judged(device(), Parameters::file_of(variant), right),
                      files::sentence("Relative to the sum of the magnitudes.")
                          .add(files::sentence("Float rounding explains up to {}.",
                                               fmt::format("{:.1e}", bound)))});
    report.push_back({"bandwidth", "Bandwidth", bandwidth, "B/s", {}, Verdict::none, {}});
    return report;
}

Comparison::Row Reduction::compare(Variant variant, ColdRuns& cold) {
    const Choice::Word& word = chosen_.kernel.words()[std::size_t(variant)];
    const ColdRuns::Times times = cold.measure(kernel_name(variant), double(chosen_.n),
                                               [&](std::size_t) { launch(variant); });
    const double error = relative_error(value_of(variant));
    return times.row(word.id, word.label, work(variant).bytes, error,
                     judged(device(), Parameters::file_of(variant), error <= error_bound(variant)));
}

std::optional<Comparison::Row> Reduction::compare_library(ColdRuns& cold) {
    const auto cub = compute::Cub::load(device());
    if (!cub) return {};
    const ColdRuns::Times times =
        cold.measure(compute::Cub::sum_name, double(chosen_.n), [&](std::size_t) {
            cub->sum(inputs_->values.pointer(), std::size_t(chosen_.n), total_.pointer());
        });
    const double error = relative_error(double(total_.download()[0]));
    const bool right = error <= library_error_bound(device(), chosen_.n);
    return times.row("cub", "CUB DeviceReduce::Sum", 4.0 * double(chosen_.n), error,
                     right ? Verdict::pass : Verdict::fail);
}

std::optional<Comparison> Reduction::compare() {
    const WaitForCompiler wait(device());
    Comparison comparison{.title = "Kernels of the reduction, elements read from memory",
                          .rate_unit = "B/s",
                          .element = "element",
                          .published_title = ""};
    ColdRuns cold(device());
    for (std::size_t i = 0; i < chosen_.kernel.words().size(); ++i)
        comparison.rows.push_back(compare(Variant(i), cold));
    if (auto library = compare_library(cold)) comparison.rows.push_back(std::move(*library));
    launched_ = false;
    return comparison;
}

Tree Reduction::make_tree() {
    const auto emulator = emulator_like(device(), "for the tree");
    Reduction traced(*emulator);
    const Variant variant = chosen_.kernel;
    // Block 0 sums the first elements, at most 16 for each thread.
    const std::int64_t n = std::min<std::int64_t>(
        chosen_.n, (variant >= Variant::vectorized ? 16 : 2) * chosen_.block);
    const std::vector<Assignment> same{{"kernel", chosen_.kernel.text()},
                                       {"n", std::to_string(n)},
                                       {"block", chosen_.block.text()}};
    traced.set(same);
    const compute::SharedMemoryTrace trace =
        compute::trace_shared_memory(*emulator, 0, [&] { traced.launch(variant); });
    return sum_tree(trace, std::size_t(chosen_.block),
                    variant >= Variant::shuffle ? "" : "Shared memory", kernel_name(variant));
}

const Tree* Reduction::tree() {
    if (!tree_) tree_ = make_tree();
    return &*tree_;
}

}  // namespace warpscope::experiments
