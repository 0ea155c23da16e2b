#pragma once

#include <cstdint>

namespace warpscope::emulator {

enum class MemoryAccess : std::uint8_t { none, load, store, atomic };
/// What an access or a fence promises about the order of other accesses (PTX ISA 8.3, "Operation
/// types"). Atomics without a modifier are relaxed, other accesses without one are weak.
enum class MemoryOrder : std::uint8_t { weak, volatile_, relaxed, acquire, release, acq_rel };

constexpr bool acquires(MemoryOrder order) {
    return order == MemoryOrder::acquire || order == MemoryOrder::acq_rel;
}
constexpr bool releases(MemoryOrder order) {
    return order == MemoryOrder::release || order == MemoryOrder::acq_rel;
}

/// The threads among which an atomic, another strong access or a fence counts (PTX ISA 8.5,
/// "Scope").
enum class Scope : std::uint8_t { block, cluster, device };

/// `cluster`: the shared memory of all blocks of a cluster (.shared::cluster).
enum class Space : std::uint8_t { generic, global, shared, local, constant, param, cluster };

/// How a load, store or atomic accesses memory, as Instruction::target holds it.
struct AccessForm {
    Space space = Space::generic;
    unsigned bytes = 4;  ///< width of one element: 1, 2, 4 or 8
    unsigned elements = 1;
    bool is_signed = false;
    bool wide_address = false;   ///< the address register has 64 bits
    bool wide_register = false;  ///< the data registers have 64 bits
    /// ldmatrix and stmatrix: `elements` matrices of 8 rows. Eight lanes give the addresses of the
    /// rows of each matrix, 16 bytes long, the first eight lanes those of the first one.
    bool matrices = false;
    bool transposed = false;

    constexpr AccessForm() = default;
    explicit constexpr AccessForm(std::uint32_t target)
        : space(Space(target & 7)),
          bytes(1u << (target >> 3 & 3)),
          elements(target >> 5 & 7),
          is_signed(target >> 8 & 1),
          wide_address(target >> 9 & 1),
          wide_register(target >> 10 & 1),
          matrices(target >> 11 & 1),
          transposed(target >> 12 & 1) {}

    /// The lanes whose addresses are accessed, of those that execute the instruction.
    constexpr std::uint32_t addressing_lanes() const {
        return matrices ? ~0u >> (32 - 8 * elements) : ~0u;
    }

    constexpr std::uint32_t encoded() const {
        const unsigned log_bytes = bytes == 8 ? 3 : bytes == 4 ? 2 : bytes == 2 ? 1 : 0;
        return std::uint32_t(space) | log_bytes << 3 | elements << 5 |
               std::uint32_t(is_signed) << 8 | std::uint32_t(wide_address) << 9 |
               std::uint32_t(wide_register) << 10 | std::uint32_t(matrices) << 11 |
               std::uint32_t(transposed) << 12;
    }
};

/// What the coordinates of a texture or a surface are: x, (x, y), (x, y, z); the number of a layer
/// and then x or (x, y); a direction.
enum class TextureGeometry : std::uint8_t { line, plane, volume, lines, planes, cube };

/// How an instruction accesses a texture or a surface, as Instruction::target holds it.
struct TextureForm {
    /// What an access outside of a surface does.
    enum class Outside : std::uint8_t { trap, clamp, zero };

    TextureGeometry geometry = TextureGeometry::line;
    unsigned bytes = 4;     ///< width of one element: 1, 2, 4 or 8
    unsigned elements = 1;  ///< of a surface
    bool integer_coordinates = false;
    Outside outside = Outside::trap;

    constexpr TextureForm() = default;
    explicit constexpr TextureForm(std::uint32_t target)
        : geometry(TextureGeometry(target & 7)),
          bytes(target >> 3 & 15),
          elements(target >> 7 & 7),
          integer_coordinates(target >> 10 & 1),
          outside(Outside(target >> 11 & 3)) {}

    constexpr std::uint32_t encoded() const {
        return std::uint32_t(geometry) | bytes << 3 | elements << 7 |
               std::uint32_t(integer_coordinates) << 10 | std::uint32_t(outside) << 11;
    }
    constexpr bool has_layers() const {
        return geometry == TextureGeometry::lines || geometry == TextureGeometry::planes;
    }
    constexpr unsigned coordinates() const {
        if (geometry == TextureGeometry::line) return 1;
        return geometry == TextureGeometry::plane || geometry == TextureGeometry::lines ? 2 : 3;
    }
};

/// How an asynchronous copy finds its operands, as Instruction::target holds it.
struct CopyForm {
    enum class Size : std::uint8_t {
        fixed,      ///< `bytes`, all of which are read
        partial,    ///< `bytes`; an operand says how many of them are read
        ignorable,  ///< `bytes`; a predicate says that none of them is read
        by_operand
    };
    unsigned bytes = 0;  ///< 4, 8 or 16; 0: Size::by_operand
    Size size = Size::fixed;
    Space to = Space::shared, from = Space::global;
    bool wide_to = false, wide_from = false;  ///< the address registers have 64 bits
    bool counts_bytes = false;                ///< an mbarrier does, for a bulk copy
    bool wide_mbarrier = false;               ///< its address register has 64 bits
    bool has_ranks = false;  ///< an operand names the blocks of the cluster that it goes to
    unsigned reduction = 0;  ///< an AtomicOp, plus one; 0: it copies

    constexpr CopyForm() = default;
    explicit constexpr CopyForm(std::uint32_t target)
        : bytes(target & 31),
          size(Size(target >> 5 & 3)),
          to(Space(target >> 7 & 7)),
          from(Space(target >> 10 & 7)),
          wide_to(target >> 13 & 1),
          wide_from(target >> 14 & 1),
          counts_bytes(target >> 15 & 1),
          wide_mbarrier(target >> 16 & 1),
          has_ranks(target >> 17 & 1),
          reduction(target >> 18 & 15) {}

    constexpr std::uint32_t encoded() const {
        return bytes | std::uint32_t(size) << 5 | std::uint32_t(to) << 7 |
               std::uint32_t(from) << 10 | std::uint32_t(wide_to) << 13 |
               std::uint32_t(wide_from) << 14 | std::uint32_t(counts_bytes) << 15 |
               std::uint32_t(wide_mbarrier) << 16 | std::uint32_t(has_ranks) << 17 |
               reduction << 18;
    }
};

}  // namespace warpscope::emulator
