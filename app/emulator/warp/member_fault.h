#pragma once

#include <cstdint>

namespace warpscope::emulator {

struct Instruction;

/// Lanes that execute a warp-wide instruction (shfl.sync, vote.sync, match.sync, redux.sync,
/// bar.warp.sync) in a way that the PTX ISA leaves undefined (9.7.9.6, 9.7.13.5).
struct MemberFault {
    enum class Kind : std::uint8_t {
        not_member,    ///< a lane executes it, but is not in its own member mask
        masks_differ,  ///< a lane in the mask of another lane has another mask
    };
    Kind kind = Kind::not_member;
    const Instruction* instruction = nullptr;
    std::uint32_t warp = 0;
    std::uint32_t lanes = 0;    ///< at fault, as a mask
    std::uint32_t members = 0;  ///< the member mask of the first of them
    std::uint32_t other = 0;       ///< masks_differ: the other lane of the first one
    std::uint32_t other_mask = 0;  ///< masks_differ: of that lane
};

}  // namespace warpscope::emulator
