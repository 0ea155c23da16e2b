#pragma once

#include <array>
#include <cstdint>

#include "emulator/program/ptx_type.h"

namespace warpscope::emulator {

/// Where the chunks of 16 bytes of a tile lie in shared memory, so that its columns have no bank
/// conflicts: the chunk's place in a span of so many bytes is changed by the number of the span's
/// line of 128 bytes (PTX ISA 5.5.6, "Swizzling Modes").
enum class Swizzle : std::uint8_t { none, bytes_32, bytes_64, bytes_128 };

/// The address in shared memory that stands for `address` of the tile as it is without a swizzle.
constexpr std::uint64_t swizzled(Swizzle swizzle, std::uint64_t address) {
    const std::uint64_t chunks = (std::uint64_t(1) << unsigned(swizzle)) - 1;
    return address ^ (address >> 7 & chunks) << 4;
}

/// A tensor in global memory, and the box of it that one bulk copy moves: what a CUtensorMap of the
/// emulator holds (PTX ISA 5.5.9, "Tensor-map"). NVIDIA does not say what its own maps hold.
struct TensorMap {
    static constexpr std::uint32_t mark_of_maps = 0x544D4150;
    static constexpr unsigned most_dimensions = 5;
    static constexpr unsigned bytes = 128, align = 64;

    std::uint32_t mark = mark_of_maps;
    std::uint8_t dimensions = 1;
    std::uint8_t element_bytes = 4;
    Type type = Type::u32;  ///< of an element, for reductions
    Swizzle swizzle = Swizzle::none;
    std::uint64_t memory = 0;
    std::array<std::uint64_t, most_dimensions> size{};        ///< elements; the first is contiguous
    std::array<std::uint64_t, most_dimensions - 1> stride{};  ///< bytes, from dimension 1 on
    std::array<std::uint32_t, most_dimensions> box{};         ///< elements
};
static_assert(sizeof(TensorMap) <= TensorMap::bytes);

}  // namespace warpscope::emulator
