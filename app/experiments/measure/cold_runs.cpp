#include "experiments/measure/cold_runs.h"

#include "experiments/measure/count_work.h"
#include "experiments/measure/launch_times.h"

namespace warpscope::experiments {
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
