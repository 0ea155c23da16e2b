#include "emulator/fast_paths/compiled/generate/function_context.h"

#include "emulator/fast_paths/compiled/warp_layout.h"

namespace warpscope::emulator {

FunctionContext::FunctionContext(Ir& ir, const CompilationPlan& plan, const Instruction* code,
                                 unsigned lanes, bool reports)
    : ir(ir),
      plan(plan),
      code(code),
      width(lanes),
      group_count(lanes_per_warp / lanes),
      reports(reports),
      segment(ir, group_count) {
    const LlvmType pointer = ir.pointer();
    const LlvmValue function = ir.function(function_name, pointer, {pointer, pointer});
    instruction = ir.llvm().GetParam(function, 0);
    warp = ir.llvm().GetParam(function, 1);
    ir.go_on_in(ir.block("entry"));
}

void FunctionContext::load_warp() {
    registers = warp_member(ir.pointer(), WarpLayout::registers);
    block = warp_member(ir.pointer(), WarpLayout::block);
    if (plan.mode() == Instruction::masked) running = warp_member(ir.integer(32), WarpLayout::mask);
    if (!reports) return;
    observed = block_member(ir.pointer(), WarpLayout::observed);
    wanted_events = observed_member(ir.integer(32), WarpLayout::wanted);
}

LlvmValue FunctionContext::lanes_of_mask(LlvmValue mask, unsigned g) const {
    const LlvmValue group = ir.cast(Ir::trunc, ir.op(Ir::lshr, mask, g * width), ir.integer(width));
    return ir.cast(Ir::bitcast, group, ir.integer(1, width));
}

LlvmValue FunctionContext::number_of_lanes(LlvmValue mask) const {
    return ir.cast(Ir::zext, ir.intrinsic("ctpop", ir.integer(32), {mask}), ir.integer(64));
}

void FunctionContext::go_to(LlvmValue handler, LlvmValue at) const {
    const LlvmValue next = ir.call(handler, ir.pointer(), {at, warp});
    ir.llvm().SetTailCall(next, 1);
    ir.give(next);
}

}  // namespace warpscope::emulator
