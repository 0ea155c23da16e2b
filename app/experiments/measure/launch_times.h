#pragma once

#include <cstddef>
#include <string_view>

#include "compute/device/device.h"

namespace warpscope::experiments {

/// Median device time, in ms, of the newest `launches` launches of a kernel. Waits for them. 0 if
/// there were none.
double newest_median_ms(compute::Device& device, std::string_view kernel, std::size_t launches);
/// The nearest-rank quantile `q` of these times, 0 < q <= 1. Waits for them. 0 if there were none.
double newest_quantile_ms(compute::Device& device, std::string_view kernel, std::size_t launches,
                          double q);

constexpr std::size_t most_launches = 101;
/// Returns how many launches of `ms` each to measure: on a GPU as many as fit into 100 ms, at least
/// 9 and at most most_launches; 3 on the emulator, whose times matter little.
std::size_t launches_worth(const compute::Device& device, double ms);

}  // namespace warpscope::experiments
