#include "emulator/decode/statement_decoder.h"

#include <fmt/format.h>

#include <algorithm>

// PTX ISA 9.7.12, "Control Flow Instructions", and barriers of a block (9.7.13).
// Exchanges between the lanes of a warp: PTX ISA 9.7.9.6 and 9.7.13.

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
    if (is_fence && !d.has("proxy"))
        e.order = d.has("acquire")   ? MemoryOrder::acquire
                  : d.has("release") ? MemoryOrder::release
                                     : MemoryOrder::acq_rel;
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
    const std::ptrdiff_t index = &d.statement() - d.state().syntax.statements.data();
    e.gathers = e.immediate && kind != BarrierKind::arrive &&
                d.state().uniformity.gathers[std::size_t(index)];
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

namespace {

Emission warp_emission(Handler handler, std::vector<std::uint32_t> operands) {
    Emission e = emission_of(std::move(operands));
    e.full = handler;
    e.cost_point = true;
    return e;
}

// Returns the slots of d and p in d|p; p is 0 if there is none.
std::pair<std::uint32_t, std::uint32_t> pair_of(const StatementDecoder& d) {
    const Operand& to = d.operand(0);
    if (to.kind != Operand::pair) return {d.destination(to), 0};
    return {d.destination(to.elements[0]), d.destination(to.elements[1])};
}

}  // namespace

// shfl.sync.mode.b32 d{|p}, a, b, c, members
void decode_shuffle(StatementDecoder& d) {
    const auto [value, valid] = pair_of(d);
    Emission e =
        warp_emission(shuffle, {value, valid, d.source(1, Type::b32), d.source(2, Type::b32),
                                d.source(3, Type::b32), d.source(4, Type::b32)});
    const ShuffleMode mode = d.has("up")     ? ShuffleMode::up
                             : d.has("down") ? ShuffleMode::down
                             : d.has("bfly") ? ShuffleMode::bfly
                                             : ShuffleMode::idx;
    e.detail = std::uint16_t(mode);
    e.masked = shuffle;
    if (value && !is_uniform(value) && !is_uniform(e.operands[2]) && is_uniform(e.operands[3]) &&
        is_uniform(e.operands[4]))
        e.full = shuffle_handler(mode);
    d.emit(std::move(e));
}

// elect.sync d|p, members
void decode_election(StatementDecoder& d) {
    if (d.operand(0).kind != Operand::pair) d.fail("a lane and a predicate are the results");
    const auto [leader, is_leader] = pair_of(d);
    d.emit(warp_emission(elect, {leader, is_leader, d.source(1, Type::b32)}));
}

// vote.sync.mode.pred p, {!}a, members; vote.sync.ballot.b32 d, {!}a, members
void decode_vote(StatementDecoder& d) {
    Emission e = warp_emission(
        vote, {d.destination(d.operand(0)), d.source(1, Type::pred), d.source(2, Type::b32)});
    e.detail = std::uint16_t(d.has("all")   ? VoteMode::all
                             : d.has("any") ? VoteMode::any
                             : d.has("uni") ? VoteMode::uni
                                            : VoteMode::ballot);
    e.target = d.operand(1).negated;
    d.emit(std::move(e));
}

// match.any.sync.type d, a, members; match.all.sync.type d{|p}, a, members
void decode_match(StatementDecoder& d) {
    const Type type = d.type();
    const bool all = d.operation() == Operation::match_all;
    if (!all && d.operand(0).kind == Operand::pair) d.fail("match.any has one destination");
    const auto [value, same] = pair_of(d);
    Emission e = warp_emission(all ? match_all : match_any,
                               {value, d.source(1, type), d.source(2, type), same});
    e.target = bits_of(type);
    d.emit(std::move(e));
}

// redux.sync.op.type d, a, members
void decode_reduction(StatementDecoder& d) {
    const Type type = d.type();
    const bool sign = is_signed(type);
    const ReduceOp op = d.has("add")   ? ReduceOp::add
                        : d.has("min") ? (sign ? ReduceOp::min_s : ReduceOp::min_u)
                        : d.has("max") ? (sign ? ReduceOp::max_s : ReduceOp::max_u)
                        : d.has("and") ? ReduceOp::and_
                        : d.has("or")  ? ReduceOp::or_
                                       : ReduceOp::xor_;
    if (op == ReduceOp::xor_ && !d.has("xor")) d.fail_form();
    Emission e = warp_emission(reduce_lanes,
                               {d.destination(d.operand(0)), d.source(1, type), d.source(2, type)});
    e.detail = std::uint16_t(op);
    d.emit(std::move(e));
}

// activemask.b32 d
void decode_active_mask(StatementDecoder& d) {
    d.emit(warp_emission(active_mask, {d.destination(d.operand(0))}));
}

// bar.warp.sync members
void decode_warp_barrier(StatementDecoder& d) {
    Emission e = warp_emission(warp_barrier, {d.source(0, Type::b32)});
    e.role = Role::warp_barrier;
    d.emit(std::move(e));
}

}  // namespace warpscope::emulator
