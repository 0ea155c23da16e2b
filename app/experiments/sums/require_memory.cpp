#include "experiments/sums/require_memory.h"

#include <fmt/format.h>

namespace warpscope::experiments {

void require_memory(const compute::Device& device, std::int64_t n, double bytes_per_element) {
    const double needed = double(n) * bytes_per_element;
    const double there = double(device.info().memory_bytes);
    if (needed <= there) return;
    throw compute::OutOfMemory(
        fmt::format("n = {} needs {:.1f} GiB and the device has {:.1f} GiB: choose at most {}", n,
                    needed / 0x1p30, there / 0x1p30, std::int64_t(there / bytes_per_element)));
}

}  // namespace warpscope::experiments
