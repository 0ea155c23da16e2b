#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "emulator/decode/kernel_state.h"
#include "emulator/lower/kernel_origin.h"
#include "emulator/program/error.h"
#include "emulator/program/special_register.h"

namespace warpscope::emulator {

namespace {

void check_operand_count(const KernelState& state, const Statement& s) {
    const OperandRoles& roles = s.opcode->operands;
    const std::size_t count = s.operands.size();
    if (roles.any || (count >= roles.least && count <= roles.count)) return;
    const std::string needed = roles.least == roles.count
                                   ? fmt::format("{}", roles.count)
                                   : fmt::format("{} to {}", roles.least, roles.count);
    fail_at(state, s, fmt::format("{} operands where {} are needed", count, needed));
}

/// True for a kernel that asks for the workspace in which the blocks of a grid count who has
/// arrived.
bool uses_grid_workspace(const KernelSyntax& syntax) {
    return std::any_of(syntax.statements.begin(), syntax.statements.end(), [](const Statement& s) {
        return std::any_of(s.operands.begin(), s.operands.end(), [](const Operand& o) {
            return o.kind == Operand::special && special_named(o.name) == Special::envreg2;
        });
    });
}

}  // namespace

void check_statements(const KernelState& state) {
    for (const Statement& s : state.syntax.statements) {
        if (s.opcode->operation == Operation::unknown)
            fail_at(state, s, why_unknown(s.name, s.modifiers));
        if (const std::string_view reason = why_refused(s.name, s.modifiers); !reason.empty())
            fail_at(state, s, std::string(reason));
        check_operand_count(state, s);
        if (s.opcode->kind == OpcodeKind::branches &&
            !state.syntax.labels.contains(s.operands[0].name))
            fail_at(state, s, "a branch to an unknown label");
    }
}

std::unique_ptr<Kernel> decode_kernel(const Module& module, const Symbols& module_symbols,
                                      KernelSyntax syntax) {
    KernelState state{module, module_symbols, std::move(syntax)};
    Kernel& kernel = *state.kernel;
    kernel.name = state.syntax.name;
    kernel.module = &module;
    kernel.parameters = state.syntax.parameters;
    kernel.cluster = state.syntax.cluster;
    kernel.most_threads = state.syntax.most_threads;
    kernel.synchronises_grid = uses_grid_workspace(state.syntax);
    for (const Parameter& p : kernel.parameters)
        kernel.parameter_bytes = std::max(kernel.parameter_bytes, p.offset + p.size);
    kernel.argument_slot = slot_offset(state.slots.uniform(std::max(8u, kernel.parameter_bytes)));

    check_statements(state);
    choose_float_mode(state);
    analyse_control(state);
    place_variables(state);
    find_bases(state);
    find_aliases(state);
    place_registers(state);
    decode_blocks(state);
    resolve_branches(state);
    finish_operands(state);
    mark_events(state);
    keep_origin(state);
    return std::move(state.kernel);
}

void keep_origin(KernelState& state) {
    state.kernel->origin = std::make_shared<KernelOrigin>(
        KernelOrigin{std::move(state.syntax), std::move(state.flow), std::move(state.uniformity),
                     std::move(state.block_begin)});
}

void fail_at(const KernelState& state, const Statement& statement, const std::string& what) {
    throw Error(fmt::format("{}: kernel {}, {}: {}: '{}'", state.module.name(), state.syntax.name,
                            load_place(statement.source, state.module.files()), what,
                            statement.text));
}

}  // namespace warpscope::emulator
