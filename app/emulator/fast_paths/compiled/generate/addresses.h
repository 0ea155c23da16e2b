#pragma once

#include <array>

#include "emulator/fast_paths/compiled/generate/exits.h"

namespace warpscope::emulator {

/// Checks the addresses of loads and stores as the interpreter checks them. Where a check fails,
/// the interpreter repeats the access and reports the error.
///
/// Addresses are PTX addresses, each without the immediate operand of its instruction. Functions
/// that give a value give an i1, unless their comments say otherwise.
class Addresses {
  public:
    Addresses(FunctionContext& context, Slots& slots, Exits& exits)
        : context_(context), ir_(context.ir), slots_(slots), exits_(exits) {}
    /// Declares and loads the variables, in the function's first block.
    void begin();

    /// The address of a uniform access: an i64. In the scalar part.
    LlvmValue uniform(const Instruction& i);
    /// The address of the first lane of a half warp.
    LlvmValue first_of_half(const Lanes& addresses, unsigned half) const;
    /// An i64 that makes a host address of an address of the instruction.
    LlvmValue host_base(const Instruction& i) const;
    /// Stores 32 addresses. Gives the pointer to them.
    LlvmValue stored(LlvmValue addresses) const;

    // Requirements: where they do not hold, the code goes to the interpreter.
    /// The access of a uniform address is aligned and valid.
    void require_uniform(std::uint32_t u, LlvmValue address);
    /// Each half warp, whose lanes access consecutive elements from these i64 on, finds them.
    void require_halves(std::uint32_t u, LlvmValue first, LlvmValue second);
    /// The access of each lane is aligned and valid.
    void require_lanes(std::uint32_t u, const Lanes& addresses);

    /// The lanes of each half warp access consecutive elements; in shared memory these are valid.
    LlvmValue are_consecutive(std::uint32_t u, const Lanes& addresses);
    /// The loads of a group with a uniform address are aligned and valid. In the scalar part.
    LlvmValue group_is_valid(const LoadGroup& group);
    /// Finds out whether the loads of a group are consecutive, or else whether they are aligned and
    /// valid, for the functions above. In the scalar part.
    void check_group(const LoadGroup& group);

    /// Lanes k and 16 + k access the two words of 8 aligned bytes.
    struct Pairs {
        LlvmValue found;     ///< the addresses are pairs, one distance apart for successive k
        LlvmValue in_order;  ///< the first half warp accesses the lower word of each pair
        LlvmValue begin;     ///< the lowest address of the first pair: an i32
        LlvmValue distance;  ///< from one pair to the next: an i32
    };
    /// The addresses are those of words in shared memory, and have been checked.
    Pairs find_pairs(const Lanes& addresses) const;

  private:
    void require(LlvmValue condition, std::uint32_t u);
    void require_found(LlvmValue known, std::uint32_t u, const std::function<LlvmValue()>& search);
    void require_allocation(std::uint32_t u, LlvmValue low, LlvmValue high);
    LlvmValue is_place(LlvmValue address, unsigned bytes, LlvmValue places) const;
    LlvmValue room_for(LlvmValue places, std::int64_t low, std::int64_t high, unsigned bytes) const;
    LlvmValue last_allocation(std::uint32_t u) const;
    LlvmValue are_in_shared(unsigned bytes, std::int64_t low, std::int64_t high,
                            const Lanes& addresses) const;
    LlvmValue are_among(LlvmValue size, unsigned bytes, LlvmValue from,
                        const Lanes& addresses) const;
    LlvmValue numbers_in_half(unsigned g, unsigned factor, unsigned bits) const;
    Lanes consecutive_offsets(unsigned bytes, LlvmType type) const;
    LlvmValue are_at(const Lanes& offsets, const Lanes& addresses) const;
    LlvmValue are_consecutive_in_shared(unsigned bytes, std::int64_t low, std::int64_t high,
                                        const Lanes& addresses) const;

    FunctionContext& context_;
    Ir& ir_;
    Slots& slots_;
    Exits& exits_;
    LlvmValue shared_ = nullptr, shared_bytes_ = nullptr;
    /// The numbers of aligned places of 4, 8 and 16 bytes in shared memory, and of those that may
    /// be the first of a half warp's.
    std::array<LlvmValue, 3> places_ = {}, first_places_ = {};
    LlvmValue group_is_consecutive_ = nullptr, group_is_in_shared_ = nullptr;  // variables
    LlvmValue addresses_ = nullptr;  ///< a variable: 32 addresses
};

}  // namespace warpscope::emulator
