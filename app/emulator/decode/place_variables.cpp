#include <fmt/format.h>

#include <algorithm>

#include "emulator/decode/kernel_state.h"
#include "emulator/lower/calls.h"
#include "emulator/program/error.h"
#include "emulator/ptx/effects.h"

namespace warpscope::emulator {

namespace {

// A GPU gives a thread at most 512 KiB of local memory. Whether shared memory suffices depends on
// the device and is checked at the launch.
constexpr std::uint64_t most_local_bytes = 512u << 10, most_shared_bytes = 1u << 30;

void place(KernelState& state, const Variable& v) {
    const bool shared = v.space == Space::shared;
    std::uint32_t& end = shared ? state.kernel->shared_bytes : state.kernel->local_bytes;
    const std::uint64_t begin = (std::uint64_t(end) + v.align - 1) / v.align * v.align;
    const std::uint64_t most = shared ? most_shared_bytes : most_local_bytes;
    if (begin + v.bytes > most)
        throw Error(fmt::format(
            "{}: kernel {}: '{}' lies beyond the {} bytes that {} memory can have",
            state.module.name(), state.syntax.name, v.name, most, shared ? "shared" : "local"));
    state.symbols[v.name] = {v.space, begin};
    end = std::uint32_t(begin + v.bytes);
    if (shared)
        state.kernel->shared_variables.push_back(
            {v.name, std::uint32_t(begin), std::uint32_t(v.bytes)});
}

}  // namespace

void place_variables(KernelState& state) {
    Kernel& kernel = *state.kernel;
    bool has_dynamic = false;
    for (const Variable& v : state.syntax.variables) {
        has_dynamic |= v.dynamic;
        if (!v.dynamic) place(state, v);
    }
    kernel.local_bytes = (kernel.local_bytes + 15) / 16 * 16;
    const auto stack = state.symbols.find(stack_name);
    kernel.cleared_local_bytes =
        stack == state.symbols.end() ? kernel.local_bytes : std::uint32_t(stack->second.address);
    // All dynamic shared variables begin behind the static ones.
    if (has_dynamic) kernel.shared_bytes = (kernel.shared_bytes + 15) / 16 * 16;
    for (const Variable& v : state.syntax.variables)
        if (v.dynamic) {
            state.symbols[v.name] = {Space::shared, kernel.shared_bytes};
            kernel.shared_variables.push_back({v.name, kernel.shared_bytes, 0});
        }
    for (const Parameter& p : state.syntax.parameters)
        state.symbols[p.name] = {Space::param, p.offset};
}

namespace {

int variable_of(const KernelState& state, const Operand& operand) {
    const auto& variables = state.kernel->shared_variables;
    if (operand.kind != Operand::symbol) return KernelState::no_variable;
    const auto found =
        std::find_if(variables.begin(), variables.end(),
                     [&](const SharedVariable& v) { return v.name == operand.name; });
    return found == variables.end() ? KernelState::no_variable : int(found - variables.begin());
}

/// Of a value that is computed of two others.
int joined(int one, int other) {
    if (one == KernelState::no_variable || one == other) return other;
    return other == KernelState::no_variable ? one : KernelState::several_variables;
}

}  // namespace

// A register has the variables of all values that it ever has.
void find_shared_variables(KernelState& state) {
    std::vector<int>& variables = state.variable_of_register;
    variables.assign(state.syntax.registers.size(), KernelState::no_variable);
    if (state.kernel->shared_variables.empty()) return;
    for (bool changed = true; changed;) {
        changed = false;
        for (const Statement& s : state.syntax.statements) {
            if (s.opcode->kind != OpcodeKind::computes) continue;
            int variable = KernelState::no_variable;
            for (const Operand& o : s.operands) variable = joined(variable, variable_of(state, o));
            for (const std::int32_t r : sources_of(s))
                variable = joined(variable, variables[std::size_t(r)]);
            for (const std::int32_t r : destinations_of(s)) {
                int& mine = variables[std::size_t(r)];
                const int both = joined(mine, variable);
                changed |= both != mine;
                mine = both;
            }
        }
    }
}

int shared_variable_of(const KernelState& state, const Operand& address) {
    if (address.elements.size() != 1) return KernelState::no_variable;
    const Operand& base = address.elements[0];
    return base.kind == Operand::register_ ? state.variable_of_register[std::size_t(base.index)]
                                           : variable_of(state, base);
}

}  // namespace warpscope::emulator
