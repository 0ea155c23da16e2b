#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "emulator/program/module.h"

namespace warpscope::emulator {

/// How a value of a thread compares with the value that the thread of the same index in another
/// block of the launch has at the same place.
enum class Likeness : std::uint8_t {
    unknown,
    /// Modulo 2^32 they differ by one number, which is equal for all threads of the two blocks, at
    /// all times.
    shifted,
    equal
};

/// What the blocks of any launch of a kernel do alike, whatever is in memory. It is known before
/// the launch: see likeness.cpp.
struct BlockLikeness {
    struct Access {
        Likeness address = Likeness::unknown;
        /// Each thread executes the access as often as the thread of the same index in any other
        /// block.
        bool certain = false;
    };
    /// What a rehearsal of a block does in place of an instruction: see rehearsal.h.
    enum class Action : std::uint8_t {
        skip,           ///< does nothing, since no address and no known branch depends on it
        execute,        ///< calls its handler
        access_shared,  ///< notes the access
        store_global,   ///< notes the store
        load_global,    ///< notes that the block loads
        exchange,       ///< checks that the lanes are together
        sync_warp,      ///< checks that the lanes are together, and orders their accesses
        /// Skips a branch that other blocks may decide in another way. Nothing that has to be noted
        /// lies between it and its join, except loads.
        go_to_join,
        /// Executes a branch of this kind, because accesses that have to be noted follow.
        execute_unknown
    };
    static constexpr std::uint32_t no_join = ~0u;  ///< there is no join: the threads end
    struct Place {
        Access access;
        Action action = Action::skip;
        bool loads_before_join = false;  ///< for a branch that other blocks may decide differently
        /// Pc of the join, or of the instruction behind those to skip.
        std::uint32_t next = 0;
    };

    /// All blocks access shared memory alike at an instruction: equal threads execute it equally
    /// often, at equal addresses, between equal barriers.
    bool is_foreseen(const Kernel& kernel, std::uint32_t pc) const {
        return kernel.lines[pc].space == Space::shared && places[pc].access.certain &&
               places[pc].access.address == Likeness::equal;
    }

    /// Why a block cannot be rehearsed, in words; empty where it can.
    std::string obstacle;
    std::vector<Place> places;  ///< indexed by pc
    /// The bytes of the packed arguments (Kernel::parameters) that a rehearsal depends on, as
    /// offset and size.
    std::vector<std::pair<std::uint32_t, std::uint32_t>> arguments;
};

using SharedLikeness = std::shared_ptr<const BlockLikeness>;

/// What the blocks of the kernel's launches do alike. It is found at the first call for the kernel,
/// and is null where there are no barriers and no shared memory, or too many branches.
SharedLikeness likeness_of(const Kernel& kernel);

/// BlockLikeness::is_foreseen(); false for a kernel without a likeness.
inline bool is_foreseen(const Kernel& kernel, std::uint32_t pc) {
    const SharedLikeness likeness = likeness_of(kernel);
    return likeness && likeness->is_foreseen(kernel, pc);
}

}  // namespace warpscope::emulator
