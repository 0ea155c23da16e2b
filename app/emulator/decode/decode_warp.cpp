#include <fmt/format.h>

#include <algorithm>

#include "emulator/decode/statement_decoder.h"

// Exchanges between the lanes of a warp: PTX ISA 9.7.9.6 and 9.7.13.
namespace warpscope::emulator {

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
