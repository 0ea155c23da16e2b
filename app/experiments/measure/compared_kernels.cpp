#include "experiments/measure/compared_kernels.h"

#include <algorithm>

#include "compute/emulated/emulated_device.h"
#include "emulator/counters/access_counters.h"
#include "emulator/warp/warp.h"
#include "experiments/framework/experiment.h"

namespace warpscope::experiments {
namespace {

Comparison::Counts sum(const std::vector<emulator::KernelCounters>& kernels, double elements) {
    Comparison::Counts counts;
    for (const emulator::KernelCounters& k : kernels) {
        if (k.kernel == SharedMemoryCleaner::kernel_name) continue;
        for (const auto* global : {&k.global_loads, &k.global_stores, &k.global_atomics})
            counts.sectors += double(global->sectors);
        for (const auto* shared : {&k.shared_loads, &k.shared_stores, &k.shared_atomics})
            counts.bank_passes += double(shared->wavefronts);
        counts.barriers += double(k.barriers);
        counts.instructions += double(k.warp_instructions) * emulator::lanes_per_warp / elements;
    }
    return counts;
}

}  // namespace

std::optional<Comparison::Counts> count_work(compute::Device& device, double elements,
                                             const std::function<void()>& launches) {
    auto* const emulated = dynamic_cast<compute::EmulatedDevice*>(&device);
    if (!emulated) {
        launches();
        return {};
    }
    emulator::AccessCounters counters;
    {
        const compute::Observing observing(*emulated, counters);
        launches();
    }
    return sum(counters.kernels(), elements);
}

double newest_median_ms(compute::Device& device, std::string_view kernel, std::size_t launches) {
    return newest_quantile_ms(device, kernel, launches, 0.5);
}

double newest_quantile_ms(compute::Device& device, std::string_view kernel, std::size_t launches,
                          double q) {
    device.synchronize();
    const compute::KernelTiming* timing = device.timings().find(kernel);
    if (!timing || timing->recent_ms.empty()) return 0.0;
    compute::KernelTiming newest;
    const std::size_t count = std::min(launches, timing->recent_ms.size());
    newest.recent_ms.assign(timing->recent_ms.end() - std::ptrdiff_t(count),
                            timing->recent_ms.end());
    return double(newest.quantile_ms(q));
}

std::size_t launches_worth(const compute::Device& device, double ms) {
    constexpr std::size_t least = 9;
    constexpr double budget_ms = 100;
    if (device.info().kind == compute::DeviceKind::emulator) return 3;
    if (ms <= 0) return least;
    return std::clamp(std::size_t(budget_ms / ms), least, most_launches);
}

namespace {

constexpr unsigned evictor_block = 256;  // threads; each reads two elements

}  // namespace

CacheEvictor::CacheEvictor(compute::Device& device)
    : device_(device),
      read_(device.shipped_kernel<Floats, Floats, unsigned>("reduce_ladder", "reduce_shuffle")) {
    const std::size_t count = 2 * device.info().cache_bytes / sizeof(float);
    if (count == 0) return;
    others_ = compute::Buffer<float>(device, count);
    others_.fill(0);
    sums_ = compute::Buffer<float>(device, count / (2 * evictor_block) + 1);
}

void CacheEvictor::launch() {
    if (others_.size() == 0) return;
    const unsigned count = unsigned(others_.size());
    constexpr unsigned share = 2 * evictor_block;
    device_.time_as("evict_cache", {.bytes = double(count) * sizeof(float)}, [&] {
        device_.launch(read_, {.grid = {(count + share - 1) / share}, .block = {evictor_block}}, {},
                       others_.pointer(), sums_.pointer(), count);
    });
}

Comparison::Row ColdRuns::Times::row(std::string id, std::string label, double bytes, double error,
                                     Verdict verdict) const {
    return {.id = std::move(id),
            .label = std::move(label),
            .median_ms = median_ms,
            .rate = median_ms > 0 ? bytes / median_ms * 1e3 : 0,
            .error = error,
            .verdict = verdict,
            .published = {},
            .p99_ms = p99_ms,
            .counts = counts};
}

ColdRuns::Times ColdRuns::measure(std::string_view name, double elements,
                                  const std::function<void(std::size_t number)>& run) {
    const auto counts = count_work(device_, elements, [&] { run(0); });
    // On a GPU the first run may have loaded the kernel.
    if (!counts) run(0);
    const std::size_t runs = launches_worth(device_, newest_median_ms(device_, name, 1));
    for (std::size_t i = 0; i < runs; ++i) {
        cache_.launch();
        run(i);
    }
    return {runs, newest_median_ms(device_, name, runs),
            newest_quantile_ms(device_, name, runs, 0.99), counts};
}

}  // namespace warpscope::experiments
