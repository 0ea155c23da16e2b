#include "experiments/sums/error_bounds.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace warpscope::experiments {

double float_error_bound(double roundings) {
    constexpr double unit = 0x1p-24;
    return roundings * unit / (1.0 - roundings * unit);
}

double library_error_bound(const compute::Device& device, std::int64_t n) {
    const double threads = 256.0 * std::max(device.info().multiprocessors, 1);
    return float_error_bound(std::ceil(double(n) / threads) + 64);
}

int tree_steps(unsigned elements) {
    return std::bit_width(std::max(elements, 1u) - 1);
}

}  // namespace warpscope::experiments
