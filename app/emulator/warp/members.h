#pragma once

#include <bit>
#include <cstdint>

#include "emulator/warp/warp.h"

namespace warpscope::emulator {

/// The member masks of the lanes that execute a warp-wide instruction: each lane names the lanes
/// that take part with it, itself among them. Lanes with other masks form other groups.
class Members {
  public:
    /// `operand`: the index of the member mask among the instruction's operands.
    Members(const Instruction* i, Warp& w, unsigned operand) : i_(i), w_(w) {
        slot_ = i->operands[operand];
        const std::uint32_t first = of(unsigned(std::countr_zero(w.mask)));
        all_ = first;
        if (is_uniform(slot_)) return;
        for_each_lane(w.mask, [&](unsigned lane) {
            all_ |= of(lane);
            one_ &= of(lane) == first;
        });
    }

    /// True where all lanes that the running lanes name are running too, or have exited.
    bool have_come() const { return w_.has_all(all_); }
    const Instruction* wait() const { return w_.wait_for_members(i_, all_); }

    /// Calls f(lanes, members) for the running lanes that have one mask, for each mask. Writes the
    /// faults of the masks down where somebody wants to know them.
    template <typename F>
    void for_groups(F&& f) const {
        for (std::uint32_t left = w_.mask; left;) {
            const std::uint32_t members = of(unsigned(std::countr_zero(left)));
            std::uint32_t lanes = one_ ? left : 0;
            if (!one_)
                for_each_lane(left, [&](unsigned lane) {
                    lanes |= std::uint32_t(of(lane) == members) << lane;
                });
            if (w_.block->member_faults) note_faults(lanes, members);
            f(lanes, members);
            left &= ~lanes;
        }
    }

  private:
    std::uint32_t of(unsigned lane) const { return w_.get<std::uint32_t>(slot_, lane); }
    void note_faults(std::uint32_t lanes, std::uint32_t members) const {
        if (const std::uint32_t outside = lanes & ~members)
            note({.kind = MemberFault::Kind::not_member, .lanes = outside, .members = members});
        if (one_ || !(lanes & members)) return;
        std::uint32_t strangers = 0;  // in their own masks
        for_each_lane(w_.mask & members & ~lanes,
                      [&](unsigned lane) { strangers |= (of(lane) >> lane & 1) << lane; });
        if (!strangers) return;
        const auto other = unsigned(std::countr_zero(strangers));
        note({.kind = MemberFault::Kind::masks_differ,
              .lanes = lanes & members,
              .members = members,
              .other = other,
              .other_mask = of(other)});
    }
    void note(MemberFault fault) const {
        fault.instruction = i_;
        fault.warp = w_.index;
        w_.block->member_faults->push_back(fault);
    }

    const Instruction* i_;
    Warp& w_;
    std::uint32_t slot_ = 0, all_ = 0;
    bool one_ = true;  ///< all running lanes have one mask
};

}  // namespace warpscope::emulator
