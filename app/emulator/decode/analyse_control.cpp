#include <fmt/format.h>

#include "emulator/decode/kernel_state.h"
#include "emulator/program/error.h"

namespace warpscope::emulator {

namespace {

// The analyses hold a bit for each pair of a basic block and a statement or register.
constexpr std::uint64_t most_facts = 200'000'000;

}  // namespace

void choose_float_mode(KernelState& state) {
    for (const Statement& s : state.syntax.statements) {
        // rsqrt.approx.ftz.f32 flushes subnormals in its own handler.
        const bool by_itself = s.opcode->operation == Operation::frsqrt && s.has("f32");
        state.kernel->flush_subnormals |= s.has("ftz") && !by_itself;
    }
}

void analyse_control(KernelState& state) {
    KernelSyntax& syntax = state.syntax;
    lower_control(syntax);
    state.flow = build_control_flow(syntax);
    const std::uint64_t blocks = state.flow.blocks.size();
    if (blocks * syntax.registers.size() > most_facts ||
        blocks * syntax.statements.size() > most_facts)
        throw Error(fmt::format(
            "{}: kernel {} is too large to emulate: {} statements, {} registers and {} branches",
            state.module.name(), syntax.name, syntax.statements.size(), syntax.registers.size(),
            blocks));
    state.uniformity = analyse_uniformity(syntax, state.flow);
}

}  // namespace warpscope::emulator
