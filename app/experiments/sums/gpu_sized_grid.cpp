#include "experiments/sums/gpu_sized_grid.h"

#include <algorithm>
#include <cmath>

#include "experiments/sums/error_bounds.h"

namespace warpscope::experiments {

GpuSizedGrid::GpuSizedGrid(const compute::DeviceInfo& device, std::int64_t n, unsigned wanted_block,
                           unsigned threads)
    : block((wanted_block + 31) / 32 * 32) {
    constexpr unsigned most_blocks = 32;  // on one multiprocessor
    constexpr int loads = 4, load_elements = 4;
    const std::int64_t tile = std::int64_t(loads) * block;  // loads
    const std::int64_t tiles = std::max<std::int64_t>(1, (n / load_elements + tile - 1) / tile);
    const std::int64_t wanted = std::int64_t(std::max(device.multiprocessors, 1)) *
                                std::clamp(threads / block, 1U, most_blocks);
    blocks = unsigned(std::min(tiles, wanted));
    // A term is added to the other elements of its load (2), to the sums of the other tiles, and to
    // those of the other loads. The remainder of the last tile costs 2. Then come a tree of lanes
    // and a tree of warps; the steps of each are rounded up.
    const double of_a_thread = 2 + std::ceil(double(tiles) / blocks) + (loads - 1) + 2;
    const double of_a_block = tree_steps(block) + 1;
    additions = of_a_thread + of_a_block;
    last_additions = std::ceil(double(blocks) / block) + of_a_block;
}

}  // namespace warpscope::experiments
