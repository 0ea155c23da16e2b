#pragma once

#include <array>
#include <cstdint>

namespace warpscope::emulator {

/// What a warp of the model block does (BlockModel): an access to memory, the arrival at a barrier,
/// or a warp-wide synchronization. Small, so that those of a block stay in the CPU's cache.
struct ModelStep {
    enum class Kind : std::uint8_t { shared_access, global_access, arrival, warp_sync };
    /// Which addresses of an access determine those of all lanes.
    enum class Shape : std::uint8_t {
        lanes,  ///< each its own
        first,  ///< that of the first lane
        halves  ///< those of lanes 0 and 16: behind them, each half of the warp accesses bytes that
                ///< follow each other
    };
    static constexpr std::uint32_t no_pc = ~0u;

    std::array<std::uint64_t, 2> addresses{};  ///< of the first lane, and of lane 16
    std::uint32_t mask = 0;                    ///< or the members
    std::uint32_t pc = no_pc;                  ///< none: of a synchronization
    std::uint32_t details = 0;                 ///< BlockModel's
    Kind kind = Kind::arrival;
    Shape shape = Shape::lanes;
};

/// How far the running block has followed the model. Compiled code goes on here where a warp's
/// access is its next step.
struct ModelPosition {
    /// Among `distances`: none is known, or more than the addresses must be compared. No two
    /// addresses of a process are so far apart.
    static constexpr std::uint64_t no_distance = std::uint64_t(1) << 63;
    static constexpr ModelStep no_step{};

    ModelPosition() { next.fill(&no_step); }

    std::array<const ModelStep*, 32> next;  ///< by warp
    std::uint8_t* next_warp = nullptr;      ///< where the warp of the block's next step is noted
    /// By pc, from the model's addresses. There for each block, because compiled code loads one
    /// before it knows whether the warp has a next step.
    const std::uint64_t* distances = nullptr;
};

}  // namespace warpscope::emulator
