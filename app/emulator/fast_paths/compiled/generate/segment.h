#pragma once

#include <vector>

#include "emulator/fast_paths/llvm/ir.h"

namespace warpscope::emulator {

/// The code between two cost points. Its scalar part computes uniform values. The groups of lanes
/// follow one after another, each in blocks of its own, so that few values are live at a time.
class Segment {
  public:
    Segment(const Ir& ir, unsigned group_count) : ir_(ir), group_count_(group_count) {}

    /// Begins a segment whose scalar part is written into `block`.
    void begin(LlvmBlock block) {
        scalar_part_ = block;
        group_begins_.clear();
        groups_.clear();
    }
    bool has_groups() const { return !groups_.empty(); }
    void go_on_in_scalar_part() const { ir_.go_on_in(scalar_part_); }
    /// The scalar part goes on in the builder's block.
    void set_scalar_part() { scalar_part_ = ir_.here(); }
    void go_on_in_group(unsigned g) {
        while (groups_.size() < group_count_) {
            group_begins_.push_back(ir_.block("group"));
            groups_.push_back(group_begins_.back());
        }
        ir_.go_on_in(groups_[g]);
    }
    /// Group `g` goes on in the builder's block.
    void set_group(unsigned g) { groups_[g] = ir_.here(); }
    /// Chains the scalar part, the groups and a new block, in which the next segment begins.
    void close() {
        const LlvmBlock tail = ir_.block("tail");
        for (unsigned g = 0; g < groups_.size(); ++g) {
            go_on_in_scalar_part();
            ir_.jump(group_begins_[g]);
            scalar_part_ = groups_[g];
        }
        go_on_in_scalar_part();
        ir_.jump(tail);
        begin(tail);
        go_on_in_scalar_part();
    }

  private:
    const Ir& ir_;
    const unsigned group_count_;
    LlvmBlock scalar_part_ = nullptr;
    std::vector<LlvmBlock> group_begins_, groups_;  ///< by group: its first and its newest block
};

}  // namespace warpscope::emulator
