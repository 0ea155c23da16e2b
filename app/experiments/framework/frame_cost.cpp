#include "experiments/framework/frame_cost.h"

#include <fmt/format.h>

#include "emulator/machine/parallel.h"

namespace warpscope::experiments {
namespace {

/// Shorter frames tell more about the start of launches than about the work in them.
constexpr double least_seconds = 0.005;
/// A frame with less than a hundredth of the work spends its time on other things.
constexpr double most_growth = 100;

/// Thread instructions per second. The emulator's rate was measured on a desktop processor; a
/// multiprocessor issues 128 a clock at 1.5 GHz and more, of which kernels reach about a half.
double usual_rate(const compute::DeviceInfo& device) {
    if (device.kind == compute::DeviceKind::emulator) return 5e9 * emulator::hardware_threads();
    return 1.1e11 * device.multiprocessors;
}

}  // namespace

void FrameCosts::measured(std::string_view experiment, const compute::DeviceInfo& device,
                          double work, double seconds) {
    if (work <= 0 || seconds < least_seconds) return;
    Measured& largest = largest_[{std::string(experiment), device.ordinal}];
    if (work >= 0.5 * largest.work) largest = {work, seconds};
}

double FrameCosts::seconds(std::string_view experiment, const compute::DeviceInfo& device,
                           double work) const {
    const auto found = largest_.find(std::pair{std::string(experiment), device.ordinal});
    if (found == largest_.end() || work > most_growth * found->second.work)
        return work / usual_rate(device);
    return work / found->second.work * found->second.seconds;
}

std::string duration_words(double seconds) {
    if (seconds < 0.9995e-3) return fmt::format("{:.3g} µs", seconds * 1e6);
    if (seconds < 0.9995) return fmt::format("{:.3g} ms", seconds * 1e3);
    if (seconds < 59.95) return fmt::format("{:.3g} s", seconds);
    if (seconds < 59.5 * 60) return fmt::format("{:.0f} min", seconds / 60);
    if (seconds < 47.5 * 3600) return fmt::format("{:.0f} h", seconds / 3600);
    return fmt::format("{:.0f} days", seconds / 86400);
}

}  // namespace warpscope::experiments
