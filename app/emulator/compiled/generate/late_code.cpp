#include "emulator/compiled/generate/late_code.h"

#include "emulator/compiled/generate/function_context.h"

namespace warpscope::emulator {

namespace {

void count_missed(LateCode& late) {
    late.missed.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace

void LateCode::write_call(const FunctionContext& function) {
    const Ir& ir = function.ir;
    const LlvmBlock there = ir.block("there"), missing = ir.block("missing");
    const LlvmValue found = ir.load_acquired(ir.pointer(), ir.address(&handlers));
    ir.likely(ir.compare(Ir::ne, found, ir.zero(ir.pointer())), there, missing);
    ir.go_on_in(there);
    const LlvmValue entry = ir.cast(Ir::zext, function.entry_of_instruction(), ir.integer(64));
    const LlvmValue handler = ir.at(found, ir.op(Ir::mul, entry, sizeof(Handler)));
    function.go_to(ir.load(ir.pointer(), handler), function.instruction);
    ir.go_on_in(missing);
    ir.call(reinterpret_cast<const void*>(&count_missed), ir.nothing(), {ir.address(this)});
    function.run_original();
}

}  // namespace warpscope::emulator
