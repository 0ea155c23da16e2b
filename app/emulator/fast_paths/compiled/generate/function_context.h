#pragma once

#include <vector>

#include "emulator/fast_paths/compiled/plan/plan.h"
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

/// A value of LLVM IR for each group of a warp's lanes.
using Lanes = std::vector<LlvmValue>;

/// The function that is being written, and what the classes that write it have in common.
struct FunctionContext {
    static constexpr const char* function_name = "run";

    /// Begins a function that has the type of a Handler, and goes on in its first block.
    FunctionContext(Ir& ir, const CompilationPlan& plan, const Instruction* code, unsigned lanes,
                    bool reports);
    /// Loads the members of the warp that most of the code needs.
    void load_warp();

    const Kernel& kernel() const { return plan.kernel(); }
    const Unit& unit(std::uint32_t u) const { return plan.units()[u]; }
    /// The index of a unit's instruction into Kernel::code.
    std::size_t pc_of(std::uint32_t u) const { return kernel().index_of(unit(u).instruction); }
    /// The address of an instruction of the compiled kernel.
    LlvmValue address_of(std::size_t pc) const { return ir.address(code + pc); }

    /// Loads a member of the Warp, of its BlockContext or of its ReportedBlock; see WarpLayout.
    LlvmValue warp_member(LlvmType type, std::size_t offset) const {
        return ir.load(type, ir.at(warp, offset));
    }
    LlvmValue block_member(LlvmType type, std::size_t offset) const {
        return ir.load(type, ir.at(block, offset));
    }
    LlvmValue observed_member(LlvmType type, std::size_t offset) const {
        return ir.load(type, ir.at(observed, offset));
    }

    /// The mask of the lanes that run.
    LlvmValue running_mask() const { return running ? running : ir.integer_of(32, 0xFFFFFFFF); }
    /// A vector of i1: which lanes of group `g` are in a mask of 32 lanes.
    LlvmValue lanes_of_mask(LlvmValue mask, unsigned g) const;
    /// The number of lanes in a mask of 32 lanes: an i64.
    LlvmValue number_of_lanes(LlvmValue mask) const;

    /// Ends the function with a call of a handler for an instruction.
    void go_to(LlvmValue handler, LlvmValue at) const;

    Ir& ir;
    const CompilationPlan& plan;
    const Instruction* const code;  ///< where the compiled kernel's instructions will lie
    const unsigned width;           ///< lanes in a group: those of the CPU's vectors of i32
    const unsigned group_count;
    const bool reports;  ///< see CompiledForm

    LlvmValue instruction, warp;  ///< the function's parameters
    LlvmValue registers = nullptr, block = nullptr;
    // Where the code reports: the ReportedBlock, and the events that it wants
    LlvmValue observed = nullptr, wanted_events = nullptr;
    /// The mask of the lanes that run; null: all of them do. Variables have no meaning in the other
    /// lanes, whose values lie in the register file only.
    LlvmValue running = nullptr;
    Segment segment;
    std::uint32_t loop = 0;  ///< the tight loop that is being written; see CompilationPlan::loop()
};

}  // namespace warpscope::emulator
