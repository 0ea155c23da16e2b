#include "emulator/decode/statement_decoder.h"

// PTX ISA 9.7.12, "Control Flow Instructions", and barriers of a block (9.7.13).
namespace warpscope::emulator {

namespace {

void emit_cost_point(StatementDecoder& d, Handler handler, Role role,
                     std::vector<std::uint32_t> operands = {}) {
    Emission e = emission_of(std::move(operands));
    e.full = handler;
    e.role = role;
    e.cost_point = true;
    d.emit(std::move(e));
}

}  // namespace

// bra{.uni} label
void decode_branch(StatementDecoder& d) {
    const Statement& s = d.statement();
    KernelState& state = d.state();
    Emission e;
    e.cost_point = true;
    e.operation = d.operation();
    e.full = s.guard < 0 ? branch_always : s.guard_negated ? branch_unless : branch_if;
    e.role = s.guard < 0 ? Role::branch : s.guard_negated ? Role::branch_unless : Role::branch_if;
    if (s.guard >= 0) e.operands = {state.register_slots[std::size_t(s.guard)]};
    // A branch closes its block; the blocks are decoded in their order.
    const std::size_t block = state.block_begin.size() - 1;
    state.fixups.push_back(
        {d.emitter().position(), state.flow.block_of[branch_target(state.syntax, s)],
         state.uniformity.divergent[block] ? state.uniformity.join[block] : ControlFlow::no_block});
    d.emitter().emit_branch(e);
}

// ret, exit
void decode_exit(StatementDecoder& d) {
    emit_cost_point(d, exit_threads, Role::exit);
}

void decode_trap(StatementDecoder& d) {
    emit_cost_point(d, trap, Role::operation);
}

// Decodes fences and hints, which do nothing: in the emulator memory is in order, and time is
// counted in instructions. Observers are told about fences (PTX ISA 9.7.13.4, "membar, fence").
void decode_hint(StatementDecoder& d) {
    Emission e;
    e.full = nothing;
    e.cost_point = true;
    const bool is_fence = d.operation() == Operation::membar || d.operation() == Operation::fence;
    if (is_fence && !d.has("proxy")) e.order = MemoryOrder::acq_rel;
    e.scope = scope_of(d.statement());
    d.emit(std::move(e));
}

// vprintf d, format, arguments
void decode_print(StatementDecoder& d) {
    emit_cost_point(d, print, Role::operation,
                    {d.destination(d.operand(0)), d.source(1, Type::b64), d.source(2, Type::b64)});
}

// __assertfail message, file, line, function
void decode_assertion(StatementDecoder& d) {
    emit_cost_point(d, assert_fail, Role::operation,
                    {d.source(0, Type::b64), d.source(1, Type::b64), d.source(2, Type::b32),
                     d.source(3, Type::b64)});
}

namespace {

BarrierKind barrier_kind(const StatementDecoder& d) {
    switch (d.operation()) {
        case Operation::bar_arrive:
        case Operation::barrier_arrive:
            return BarrierKind::arrive;
        case Operation::bar_red:
        case Operation::barrier_red:
            if (d.has("popc")) return BarrierKind::popc;
            if (d.has("and")) return BarrierKind::all;
            if (d.has("or")) return BarrierKind::any;
            d.fail("a barrier's reduction is .popc, .and or .or");
        default:
            return BarrierKind::sync;
    }
}

bool is_aligned(const StatementDecoder& d) {
    switch (d.operation()) {
        case Operation::bar_sync:
        case Operation::bar_arrive:
        case Operation::bar_red:
            return true;  // bar is barrier.aligned
        default:
            return d.has("aligned");
    }
}

}  // namespace

// bar{.cta}.sync a{, b}; .arrive a, b; .red.op d, a{, b}, {!}c; barrier has these forms too, with
// {.aligned}
void decode_barrier(StatementDecoder& d) {
    const std::vector<Operand>& operands = d.statement().operands;
    const BarrierKind kind = barrier_kind(d);
    const bool reduces = kind >= BarrierKind::popc;
    const std::size_t number = reduces ? 1 : 0;
    const bool has_count = operands.size() > number + (reduces ? 2 : 1);
    Emission e;
    e.full = barrier;
    e.role = Role::block_barrier;
    e.cost_point = true;
    e.immediate = is_aligned(d);
    e.detail = std::uint16_t(kind);
    e.operands = {d.source(operands[number], Type::u32),
                  has_count ? d.source(operands[number + 1], Type::u32) : 0};
    if (reduces) {
        e.operands.push_back(d.destination(operands[0]));
        e.operands.push_back(d.predicate_source(operands.back()));
    }
    d.state().kernel->has_barrier = true;
    d.emit(std::move(e));
}

}  // namespace warpscope::emulator
