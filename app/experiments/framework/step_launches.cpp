#include "experiments/framework/step_launches.h"

#include <algorithm>
#include <chrono>

namespace warpscope::experiments {

void StepLaunches::run(compute::Device& device, std::size_t n, std::size_t unit,
                       const Launch& launch) {
    const bool divided = device.info().kind == compute::DeviceKind::cuda &&
                         device.launch_limits().stop.stop_possible() &&
                         double(n) * double(n) > long_step;
    if (!divided) return launch(0, n);
    device.synchronize();
    for (std::size_t begin = 0, count = 0; begin < n; begin += count) {
        count = std::min(units_ * unit, n - begin);
        const auto start = std::chrono::steady_clock::now();
        launch(begin, count);
        device.synchronize();
        const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
        if (count == units_ * unit) units_ = next_units(units_, took.count());
    }
}

std::size_t StepLaunches::next_units(std::size_t units, double seconds) {
    const double fit = double(units) * wanted_seconds / std::max(seconds, 1e-6);
    return std::size_t(std::clamp(fit, 1.0, 2.0 * double(units)));
}

}  // namespace warpscope::experiments
