#include "experiments/sums/dot.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "compute/device/quantity.h"
#include "compute/emulated/shared_memory_trace.h"
#include "experiments/framework/edited.h"
#include "experiments/framework/emulator_like.h"
#include "experiments/framework/metadata.h"
#include "experiments/sums/error_bounds.h"
#include "experiments/sums/require_memory.h"
#include "experiments/sums/tree_rows.h"

namespace warpscope::experiments {
namespace {

constexpr std::int64_t max_traced_n = std::int64_t(1) << 22;

/// Threads on each multiprocessor for the kernels from `vectorized` on. This number was the fastest
/// on an H200. For long vectors, later blocks balance the load of the first ones.
constexpr std::int64_t long_n = std::int64_t(1) << 26;
constexpr unsigned busy_dot_threads = 1024, busy_dot_threads_long = 16384;

}  // namespace

Dot::Inputs::Inputs(compute::Device& device, std::int64_t n)
    : a(device, std::size_t(n)), b(device, std::size_t(n)) {
    constexpr std::int64_t chunk = 1 << 20;
    std::vector<float> i_as_float, twice;
    unsigned __int128 sum = 0;
    for (std::int64_t begin = 0; begin < n; begin += chunk) {
        device.check_stop("the vectors");
        const std::int64_t count = std::min(chunk, n - begin);
        i_as_float.resize(std::size_t(count));
        twice.resize(std::size_t(count));
        for (std::int64_t i = 0; i < count; ++i) {
            const float value = float(begin + i);
            i_as_float[std::size_t(i)] = value;
            twice[std::size_t(i)] = 2 * value;  // exact
            const auto whole = static_cast<unsigned long long>(value);
            sum += static_cast<unsigned __int128>(whole) * whole * 2;
        }
        const std::size_t bytes = std::size_t(count) * sizeof(float);
        device.upload((a.pointer() + std::size_t(begin)).address, i_as_float.data(), bytes);
        device.upload((b.pointer() + std::size_t(begin)).address, twice.data(), bytes);
    }
    exact = double(sum);
}

Dot::Results::Results(compute::Device& device, std::size_t slots, std::size_t most_blocks)
    : slot_size(most_blocks),
      partials(device, slots * most_blocks),
      waited(device, slots * max_blocks),
      block_sums(device, most_blocks),
      ticket(device, 1) {
    partials.fill(0);
    waited.fill(0);
    ticket.fill(0);
}

Dot::Dot(compute::Device& device)
    : Experiment(device),
      bounded_sum_(device.kernel<Floats, Floats, Floats, unsigned, long long, Clocks>(
          Parameters::file_of(Variant::divergent_bounded),
          kernel_name(Variant::divergent_bounded))),
      whole_sum_(device.kernel<Floats, Floats, Floats, unsigned, Floats, Ticket>(
          Parameters::file_of(Variant::single_pass), kernel_name(Variant::single_pass))),
      cleaner_(device) {
    for (std::size_t i = 0; i < std::size_t(Variant::single_pass); ++i) {
        sums_.emplace_back();
        if (Variant(i) != Variant::divergent_bounded)
            sums_[i] = device.kernel<Floats, Floats, Floats, unsigned>(
                Parameters::file_of(Variant(i)), kernel_name(Variant(i)));
    }
    inputs_.emplace(device, chosen_.n);
    results_.emplace(make_results(slots()));
}

void Dot::changed(std::span<Parameter* const> which) {
    Results results = make_results(slots());
    if (any_of(which, {&chosen_.n})) {
        require_memory(device(), chosen_.n, 2 * sizeof(float));
        inputs_ = Inputs(device(), chosen_.n);
    }
    results_ = std::move(results);
    tree_.reset();
    begun_frame_.reset();
}

void Dot::launch_kernel() {
    launch_next(frame());
}

std::vector<KnownResult> Dot::known_results() {
    if (chosen_.kernel >= Variant::vectorized || results_->launches == 0) return {};
    const compute::LaunchShape launch = shape(chosen_.kernel);
    const std::size_t slot = std::size_t(results_->launches - 1) % slots();
    return {{.name = "partial sum",
             .address = (results_->partials.pointer() + slot * results_->slot_size).address,
             .type = launches::parse_element_type("float"),
             .shape = {launch.grid.x},
             .relative = error_bound(chosen_.kernel),
             .right = [this, launch] {
                 std::vector<double> sums(launch.grid.x);
                 for (std::int64_t i = 0; i < chosen_.n; ++i) {
                     const double a = double(float(i));
                     sums[std::size_t(i) / launch.block.x % sums.size()] += 2 * a * a;
                 }
                 return launches::reals(sums);
             }}};
}

void Dot::do_step() {
    launch_next(frame() + 1);
}

void Dot::do_reset() {
    break_frame();
    results_->launches = 0;
}

std::string Dot::kernel_name(Variant variant) const {
    return "dot_" + chosen_.kernel.words()[std::size_t(variant)].id;
}

bool Dot::synchronized(Variant variant) {
    return variant == Variant::book || variant >= Variant::shuffle;
}

GpuSizedGrid Dot::gpu_sized_grid() const {
    return {device().info(), chosen_.n, unsigned(chosen_.block),
            chosen_.n < long_n ? busy_dot_threads : busy_dot_threads_long};
}

Dot::Results Dot::make_results(std::size_t slots) {
    return {device(), slots, std::max(max_blocks, gpu_sized_grid().blocks)};
}

compute::LaunchShape Dot::shape(Variant variant) const {
    const unsigned block = unsigned(chosen_.block);
    if (variant >= Variant::vectorized) return gpu_sized_grid().shape();
    const auto blocks =
        unsigned(std::min<std::int64_t>(max_blocks, (chosen_.n + block - 1) / block));
    return {.grid = {blocks}, .block = {block}};
}

double Dot::error_bound(Variant variant) const {
    if (variant >= Variant::vectorized) {
        // A product is rounded once before the additions.
        const GpuSizedGrid grid = gpu_sized_grid();
        return float_error_bound(1 + grid.additions +
                                 (variant == Variant::single_pass ? grid.last_additions : 0));
    }
    // A product enters its thread's sum with one rounding and goes through one more for each
    // product after it (fma), then through the tree. The host adds in double. For 33*1024 elements
    // this is 8e-7 of the sum: less than any one of the last nine tenths of the elements gives.
    const compute::LaunchShape launch = shape(variant);
    const double threads = double(launch.grid.x) * launch.block.x;
    const int steps = tree_steps(launch.block.x) + (variant == Variant::shuffle ? 1 : 0);
    return float_error_bound(std::ceil(double(chosen_.n) / threads) + steps);
}

double Dot::relative_error(double value) const {
    const double error = std::abs(value - inputs_->exact);
    return inputs_->exact == 0 ? error : error / inputs_->exact;
}

void Dot::launch(Variant variant, const Results& results, std::size_t slot, std::int64_t hold) {
    const Floats partials = results.partials.pointer() + slot * results.slot_size;
    const compute::Work work{.bytes = bytes(), .flops = 2 * double(chosen_.n)};
    if (variant == Variant::divergent_bounded)
        device().launch(bounded_sum_, shape(variant), work, inputs_->a.pointer(),
                        inputs_->b.pointer(), partials, unsigned(chosen_.n), hold,
                        results.waited.pointer() + slot * max_blocks);
    else if (variant == Variant::single_pass)
        device().launch(whole_sum_, shape(variant), work, inputs_->a.pointer(),
                        inputs_->b.pointer(), results.block_sums.pointer(), unsigned(chosen_.n),
                        partials, results.ticket.pointer());
    else
        device().launch(sums_[std::size_t(variant)], shape(variant), work, inputs_->a.pointer(),
                        inputs_->b.pointer(), partials, unsigned(chosen_.n));
}

void Dot::launch_next(std::uint64_t frame) {
    if (begun_frame_ != frame) {
        device().begin_frame(frame);
        results_->launches_before = results_->launches;
    }
    begun_frame_ = frame;
    try {
        // An edited kernel may race even if its name says that it has all barriers.
        if (!synchronized(chosen_.kernel) || edited(device(), kernel_file())) cleaner_.launch();
        launch(chosen_.kernel, *results_, std::size_t(results_->launches) % slots(), chosen_.hold);
    } catch (const compute::Cancelled&) {
        break_frame();
        throw;
    }
    ++results_->launches;
}

void Dot::break_frame() {
    const bool report_will_launch = results_->launches < std::uint64_t(chosen_.launches);
    if (begun_frame_ && report_will_launch) results_->launches = results_->launches_before;
    begun_frame_.reset();
    results_->ticket.fill(0);  // a launch that was stopped may have left another value
}

Tree Dot::make_tree() {
    const auto emulator = emulator_like(device(), "for the tree");
    Dot traced(*emulator);
    const std::int64_t n = std::min<std::int64_t>(chosen_.n, max_traced_n);
    const std::vector<Assignment> same{{"kernel", chosen_.kernel.text()},
                                       {"n", std::to_string(n)},
                                       {"block", chosen_.block.text()},
                                       {"hold", chosen_.hold.text()}};
    traced.set(same);
    const Variant variant = chosen_.kernel;
    const compute::SharedMemoryTrace trace = compute::trace_shared_memory(
        *emulator, 0, [&] { traced.launch(variant, *traced.results_, 0, chosen_.hold); });
    const bool by_warp = variant >= Variant::shuffle;
    Tree tree =
        sum_tree(trace, std::size_t(chosen_.block), by_warp ? "" : "cache[]", kernel_name(variant));
    if (n != chosen_.n) tree.title += fmt::format(", n = {}", compute::grouped(double(n)));
    tree.title +=
        tree.rows.empty() ? ": no barrier, so there is nothing to show" : remark_on(tree.rows);
    return tree;
}

const Tree* Dot::tree() {
    if (!tree_) tree_ = make_tree();
    return &*tree_;
}

}  // namespace warpscope::experiments
