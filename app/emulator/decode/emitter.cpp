#include "emulator/decode/emitter.h"

#include <algorithm>

#include "emulator/handlers/handlers.h"

namespace warpscope::emulator {

void Emitter::count_statement(const Statement& statement) {
    ++pending_cost_;
    state_.kernel->statements.push_back(statement.source);
}

void Emitter::begin(const Statement& statement) {
    statement_ = &statement;
    is_first_ = true;
}

std::uint32_t Emitter::carry_slot() {
    if (!carry_slot_) carry_slot_ = state_.slots.uniform();
    return carry_slot_;
}

void Emitter::emit(const Emission& e, const FloatRequest& mode) {
    emit_turnstile(e);
    emit_float_mode(mode);
    if (statement_->guard >= 0) {
        Emission prefix;
        prefix.full = statement_->guard_negated ? guard_not : guard;
        prefix.role = statement_->guard_negated ? Role::guard_not : Role::guard;
        prefix.operands = {state_.register_slots[std::size_t(statement_->guard)]};
        append(prefix, true);
    }
    append(e, !is_first_);
    is_first_ = false;
}

void Emitter::emit_inserted(const Emission& e, const FloatRequest& mode) {
    emit_float_mode(mode);
    append(e, true);
}

// Shared memory has no turnstiles, nor has what counts for the threads of a block only.
void Emitter::emit_turnstile(const Emission& e) {
    const bool is_strong = e.access != MemoryAccess::none && e.order != MemoryOrder::weak;
    const bool is_seen = e.space == Space::global || e.space == Space::generic;
    if (!state_.kernel->synchronises_grid || !is_strong || !is_seen || e.scope == Scope::block)
        return;
    Emission prefix;
    prefix.full = turnstile;
    prefix.role = Role::turnstile;
    append(prefix, true);
}

void Emitter::emit_float_mode(const FloatRequest& mode) {
    if (!mode.keeps_subnormals && mode.rounding == FE_TONEAREST) return;
    Emission prefix;
    prefix.full = with_float_mode;
    prefix.role = Role::float_mode;
    prefix.detail = state_.kernel->flush_subnormals && !mode.keeps_subnormals;
    prefix.target = std::uint32_t(mode.rounding);
    append(prefix, true);
}

void Emitter::append(const Emission& e, bool inserted) {
    Instruction i{};
    i.handlers[Instruction::full] = e.full;
    i.handlers[Instruction::masked] = e.masked ? e.masked : e.full;
    if (e.operands.size() > std::size(i.operands))
        fail_at(state_, *statement_, "too many operands");
    std::copy(e.operands.begin(), e.operands.end(), i.operands);
    i.immediate = e.immediate;
    i.target = e.target;
    i.detail = e.detail;
    i.role = e.role;
    i.operation = e.operation;
    i.type = e.type;
    i.second_type = e.second_type;
    i.modifiers = e.modifiers;
    if (e.cost_point) {
        i.cost = std::uint16_t(pending_cost_);
        pending_cost_ = 0;
    }
    InstructionInfo info;
    info.text = statement_->text;
    info.source = statement_->source;
    info.access = e.access;
    info.space = e.space;
    info.order = e.order;
    info.scope = e.scope;
    info.base = e.base;
    info.compares = e.compares;
    info.bytes = e.bytes;
    info.address_operand = e.address_operand;
    info.barrier = e.role == Role::block_barrier;
    info.pseudo = inserted;
    info.statements = std::uint32_t(state_.kernel->statements.size());
    state_.kernel->code.push_back(i);
    state_.kernel->lines.push_back(std::move(info));
}

}  // namespace warpscope::emulator
