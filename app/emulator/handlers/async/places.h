#pragma once

#include <cstdint>

#include "emulator/async/async_copies.h"
#include "emulator/program/access_form.h"
#include "emulator/warp/warp.h"

// Where asynchronous instructions find what they work on. All functions end the launch with an
// error of the lane for a wrong address.
namespace warpscope::emulator {

inline std::uint64_t address_in(const Warp& w, unsigned lane, std::uint32_t operand, bool wide) {
    return wide ? w.get<std::uint64_t>(operand, lane) : w.get<std::uint32_t>(operand, lane);
}

/// A checked address: an offset into shared memory, or a global address.
struct Place {
    std::uint64_t address = 0;
    int rank = -1;  ///< of another block of the cluster, in whose shared memory it is
};
/// Returns the place of `bytes` bytes at an address of a lane. Throws AccessError.
Place place_of(const Instruction* i, Warp& w, unsigned lane, Space space, std::uint64_t address,
               unsigned bytes, unsigned align);

/// The destination and the source of a copy: see CopyForm.
std::uint64_t to_of(const Instruction* i, const Warp& w, unsigned lane, const CopyForm& form);
std::uint64_t from_of(const Instruction* i, const Warp& w, unsigned lane, const CopyForm& form);
/// A copy of the instruction without its parts.
AsyncCopy copy_of(const Instruction* i, const Warp& w, const CopyForm& form);

/// An mbarrier and the copies of its block.
struct MbarrierPlace {
    Mbarrier& barrier;
    AsyncCopies& copies;
    int rank = -1;  ///< of the other block of the cluster that has it
};
MbarrierPlace mbarrier_at(const Instruction* i, Warp& w, unsigned lane, const Place& place);

}  // namespace warpscope::emulator
