#include "experiments/measure/launch_times.h"

#include <algorithm>

namespace warpscope::experiments {

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

}  // namespace warpscope::experiments
