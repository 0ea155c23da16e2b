#include "emulator/machine/block_sample.h"

#include <array>
#include <set>

#include "emulator/warp/splitmix64.h"

namespace warpscope::emulator {

namespace {

/// The first index of a dimension, the last one, and one between them.
std::array<std::uint32_t, 3> places_in(std::uint32_t size, std::uint64_t random) {
    const auto between = size > 2 ? 1 + std::uint32_t(random % (size - 2)) : 0;
    return {0, size - 1, between};
}

std::uint32_t neighbour(std::uint32_t index, std::uint32_t size) {
    return index + 1 < size ? index + 1 : index - 1;
}

}  // namespace

std::vector<std::uint32_t> sample_of(const Dim3& grid, std::uint64_t most, std::uint64_t seed) {
    std::uint64_t state = splitmix64(seed);
    std::set<std::uint32_t> chosen;
    const auto add = [&](const Dim3& at) {
        chosen.insert(linear_in(grid, at));
        if (grid.x > 1) chosen.insert(linear_in(grid, {neighbour(at.x, grid.x), at.y, at.z}));
        if (grid.y > 1) chosen.insert(linear_in(grid, {at.x, neighbour(at.y, grid.y), at.z}));
        if (grid.z > 1) chosen.insert(linear_in(grid, {at.x, at.y, neighbour(at.z, grid.z)}));
    };
    const auto x = places_in(grid.x, state), y = places_in(grid.y, splitmix64(state + 1)),
               z = places_in(grid.z, splitmix64(state + 2));
    for (unsigned k = 0; k < 3; ++k) add({x[k], y[k], z[k]});
    for (unsigned k = 0; k < 27 && chosen.size() < most; ++k)
        add({x[k % 3], y[k / 3 % 3], z[k / 9]});
    // Some may be chosen already, so the number of tries is limited.
    for (std::uint64_t tries = 0; tries < most && chosen.size() < most; ++tries)
        add(index_in(grid, std::uint32_t(splitmix64(state = splitmix64(state)) % grid.count())));
    return {chosen.begin(), chosen.end()};
}

}  // namespace warpscope::emulator
