#pragma once

#include "emulator/fast_paths/compiled/generate/segment.h"
#include "emulator/fast_paths/compiled/plan/parts.h"

namespace warpscope::emulator {

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
