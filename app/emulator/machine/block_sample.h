#pragma once

#include <cstdint>
#include <vector>

#include "emulator/program/launch.h"

namespace warpscope::emulator {

/// Blocks of a grid that stand for all, by linear index, ascending: the first, the last, one
/// between them, those at the corners and edges of the grid, and then others, as long as there are
/// fewer than `most`. Each comes with its neighbour in each dimension, and the first three always
/// come. The seed chooses those that are not at an edge.
std::vector<std::uint32_t> sample_of(const Dim3& grid, std::uint64_t most, std::uint64_t seed);

}  // namespace warpscope::emulator
