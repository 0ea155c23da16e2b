#include "experiments/framework/card_grid.h"

#include <algorithm>
#include <cmath>

#include "experiments/framework/measure.h"

namespace warpscope::experiments {

CardGrid::CardGrid(const compute::DeviceInfo& device, std::int64_t n, unsigned wanted_block,
                   unsigned threads)
    : block((wanted_block + 31) / 32 * 32) {
    constexpr unsigned most_blocks = 32;  // that a multiprocessor holds
    constexpr int loads = 4, load_elements = 4;
    const std::int64_t tile = std::int64_t(loads) * block;  // loads
    const std::int64_t tiles = std::max<std::int64_t>(1, (n / load_elements + tile - 1) / tile);
    const std::int64_t wanted = std::int64_t(std::max(device.multiprocessors, 1)) *
                                std::clamp(threads / block, 1U, most_blocks);
    blocks = unsigned(std::min(tiles, wanted));
    // The elements of a load, each tile and what is left of the last one, the sums of the loads,
    // and a tree of lanes and one of warps, whose steps are rounded up apart.
    const double of_a_thread = 2 + std::ceil(double(tiles) / blocks) + (loads - 1) + 2;
    const double of_a_block = tree_steps(block) + 1;
    additions = of_a_thread + of_a_block;
    last_additions = std::ceil(double(blocks) / block) + of_a_block;
}

}  // namespace warpscope::experiments
