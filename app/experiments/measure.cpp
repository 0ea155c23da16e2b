#include "experiments/measure.h"

#include <algorithm>
#include <bit>
#include <vector>

namespace warpscope::experiments {

double newest_median_ms(compute::Device& device, std::string_view kernel, std::size_t launches) {
    device.synchronize();
    const compute::KernelTiming* timing = device.timings().find(kernel);
    if (!timing || timing->recent_ms.empty()) return 0.0;
    const std::size_t count = std::min(launches, timing->recent_ms.size());
    std::vector<float> times(timing->recent_ms.end() - std::ptrdiff_t(count),
                             timing->recent_ms.end());
    const auto middle = times.begin() + std::ptrdiff_t(count / 2);
    std::nth_element(times.begin(), middle, times.end());
    return *middle;
}

double float_error_bound(double roundings) {
    constexpr double unit = 0x1p-24;
    return roundings * unit / (1.0 - roundings * unit);
}

int tree_steps(unsigned elements) {
    return std::bit_width(std::max(elements, 1u) - 1);
}

SharedMemoryCleaner::SharedMemoryCleaner(compute::Device& device)
    : device_(device), kernel_(device.kernel<int>("ripple", "clear_shared")) {}

void SharedMemoryCleaner::launch() {
    // 28 blocks of 8 KiB (and 1 KiB of the system's) fill the largest multiprocessor so far, of
    // 228 KiB. The emulator gives every block the same memory.
    constexpr unsigned bytes = 8 * 1024;
    const unsigned resident = device_.info().kind == compute::DeviceKind::emulator ? 1 : 28;
    const unsigned blocks = unsigned(std::max(device_.info().multiprocessors, 1)) * resident;
    device_.launch(kernel_, {.grid = {blocks}, .block = {64}, .shared_bytes = bytes}, {},
                   int(bytes / 4));
}

std::string grouped(unsigned long long value) {
    std::string text = std::to_string(value);
    for (std::size_t end = text.size(); end > 3; end -= 3) text.insert(end - 3, " ");
    return text;
}

}  // namespace warpscope::experiments
