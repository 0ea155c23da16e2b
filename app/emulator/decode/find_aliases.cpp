#include "emulator/decode/kernel_state.h"
#include "emulator/decode/operands.h"
#include "emulator/ptx/effects.h"

namespace warpscope::emulator {

namespace {

// Returns the slot of the kernel argument that ld.param loads, if the load only copies it.
std::optional<std::uint32_t> argument_slot(const OperandReader& reader, const KernelState& state) {
    const Statement& s = reader.statement();
    const Operand& from = s.operands[1];
    const unsigned bits = reader.register_bits(s.operands[0]);
    if (s.modifiers.size() != 2 || s.modifiers[0] != "param") return std::nullopt;
    const auto type = type_named(s.modifiers[1]);
    if (!type || bits_of(*type) < 32 || bits_of(*type) != bits) return std::nullopt;
    if (from.kind != Operand::address || from.elements.size() != 1) return std::nullopt;
    if (from.elements[0].kind != Operand::symbol) return std::nullopt;
    const Symbol found = reader.symbol(from.elements[0]);
    const std::uint64_t offset = found.address + std::uint64_t(from.value);
    const std::uint64_t bytes = bits / 8, all = state.kernel->parameter_bytes;
    // A load that is misaligned or not within the arguments is kept, to report the error.
    const bool valid = offset % bytes == 0 && offset <= all && bytes <= all - offset;
    if (found.space != Space::param || !valid) return std::nullopt;
    return (state.kernel->argument_slot + std::uint32_t(offset)) | uniform_operand;
}

// Returns the slot that a statement only copies, if its value never changes while the kernel runs.
std::optional<std::uint32_t> copied_slot(OperandReader& reader, const KernelState& state) {
    const Statement& s = reader.statement();
    const Operand& from = s.operands[1];
    if (s.opcode->operation == Operation::ld) return argument_slot(reader, state);
    const bool is_mov = s.opcode->operation == Operation::mov && s.modifiers.size() == 1 &&
                        reader.register_bits(s.operands[0]) >= 16;
    const bool keeps_address =
        s.opcode->operation == Operation::cvta && (s.has("global") || s.has("const"));
    if (!is_mov && !keeps_address) return std::nullopt;
    const auto type = type_named(s.modifiers.back());
    if (!type || *type == Type::pred || from.kind == Operand::vector) return std::nullopt;
    if (from.kind == Operand::register_) {
        // Lanes of another width have other places in a slot.
        if (reader.register_bits(from) != reader.register_bits(s.operands[0])) return std::nullopt;
        return state.aliases[std::size_t(from.index)];
    }
    if (from.kind == Operand::special && special_named(from.name) == Special::none)
        return std::nullopt;
    return reader.source(from, *type);
}

}  // namespace

void find_aliases(KernelState& state) {
    const std::vector<Statement>& statements = state.syntax.statements;
    state.aliases.resize(state.syntax.registers.size());
    state.dropped.resize(statements.size());
    std::vector<std::uint32_t> definitions(state.syntax.registers.size());
    for (const Statement& s : statements)
        for (std::int32_t r : destinations_of(s)) ++definitions[std::size_t(r)];
    for (bool changed = true; changed;) {
        changed = false;
        for (std::size_t i = 0; i < statements.size(); ++i) {
            const Statement& s = statements[i];
            // The first of two operands may be a source: bar.sync a, b.
            const bool may_copy = destination_count(s) == 1 && s.operands.size() == 2;
            if (state.dropped[i] || s.guard >= 0 || !may_copy) continue;
            const Operand& d = s.operands[0];
            if (d.kind != Operand::register_ || definitions[std::size_t(d.index)] != 1) continue;
            if (state.uniformity.live_at_entry[std::size_t(d.index)]) continue;
            OperandReader reader(state, s);
            state.aliases[std::size_t(d.index)] = copied_slot(reader, state);
            state.dropped[i] = state.aliases[std::size_t(d.index)].has_value();
            changed |= state.dropped[i];
        }
    }
}

}  // namespace warpscope::emulator
