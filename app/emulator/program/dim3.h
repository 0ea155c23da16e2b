#pragma once

#include <cstdint>
#include <string>

namespace warpscope::emulator {

/// CUDA's dim3: an extent of a grid or block, or the index of a block or thread in it.
struct Dim3 {
    std::uint32_t x = 1, y = 1, z = 1;
    std::uint64_t count() const { return std::uint64_t(x) * y * z; }
    bool operator==(const Dim3&) const = default;
};

/// The (x, y, z) index of element number `linear` of `extent`; x counts fastest.
constexpr Dim3 index_in(const Dim3& extent, std::uint32_t linear) {
    return {linear % extent.x, linear / extent.x % extent.y, linear / extent.x / extent.y};
}

/// The number of the element of `extent` at `index`: the inverse of index_in().
constexpr std::uint32_t linear_in(const Dim3& extent, const Dim3& index) {
    return index.x + extent.x * (index.y + extent.y * index.z);
}

/// "(3,0,0)"
inline std::string name_of(const Dim3& index) {
    return '(' + std::to_string(index.x) + ',' + std::to_string(index.y) + ',' +
           std::to_string(index.z) + ')';
}

}  // namespace warpscope::emulator
