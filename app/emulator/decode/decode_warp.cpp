#include <fmt/format.h>

#include <algorithm>

#include "emulator/decode/statement_decoder.h"

// Exchanges between the lanes of a warp: PTX ISA 9.7.9.6 and 9.7.13; and matrices in its
// registers: 9.7.14. decode_memory.cpp decodes ldmatrix and stmatrix.
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

namespace {

struct ShapeRow {
    const char* name;
    ProductShape shape;
    std::initializer_list<Type> types;  // of a
};

const ShapeRow shapes[] = {
    {"m8n8k4", {8, 4}, {Type::f64}},
    {"m8n8k16", {8, 16}, {Type::s8, Type::u8}},
    {"m16n8k4", {16, 4}, {Type::tf32, Type::f64}},
    {"m16n8k8", {16, 8}, {Type::f16, Type::bf16, Type::tf32, Type::f64}},
    {"m16n8k16", {16, 16}, {Type::f16, Type::bf16, Type::s8, Type::u8, Type::f64}},
    {"m16n8k32", {16, 32}, {Type::s8, Type::u8}}};

ProductShape shape_of(const StatementDecoder& d, Type a) {
    for (const ShapeRow& row : shapes)
        if (d.has(row.name) && std::find(row.types.begin(), row.types.end(), a) != row.types.end())
            return row.shape;
    d.fail("the emulator does not execute products of matrices of this shape and type");
}

}  // namespace

// movmatrix.sync.aligned.m8n8.trans.b16 d, a
void decode_matrix_move(StatementDecoder& d) {
    if (d.type() != Type::b16) d.fail("the elements of a matrix have the type .b16");
    d.check_width(d.operand(0), Type::b32);
    Emission e = emission_of({d.destination(d.operand(0)), d.source(1, Type::b32)});
    e.full = transpose_matrix;
    e.cost_point = true;
    d.emit(std::move(e));
}

namespace {

// Emits a product with the registers of its operands d, a, b and c, of which there are `counts`.
void emit_product(StatementDecoder& d, Emission e, const ProductTypes& types,
                  std::initializer_list<unsigned> counts) {
    e.immediate = d.has("satfinite");
    e.cost_point = true;
    std::vector<std::uint32_t>& operands = d.state().kernel->further_operands;
    e.target = std::uint32_t(operands.size());
    std::size_t k = 0;
    for (const unsigned count : counts) {
        const std::vector<Operand> registers = elements_of(d.operand(k));
        if (registers.size() != count)
            d.fail(fmt::format("a matrix has {} registers where {} are needed", registers.size(),
                               count));
        const bool is_sum = k == 0 || k == 3;
        const Type type = is_sum && bits_of(types.c) >= 32 && is_float(types.c) ? types.c
                          : bits_of(types.a) == 64                              ? Type::f64
                                                                                : Type::b32;
        for (const Operand& o : registers) {
            d.check_width(o, type);
            operands.push_back(k == 0 ? d.destination(o) : d.source(o, type));
        }
        ++k;
    }
    d.emit(std::move(e));
}

}  // namespace

// mma.sync.aligned.shape.row.col{.satfinite}.dtype.atype.btype.ctype d, a, b, c
void decode_matrix_product(StatementDecoder& d) {
    const ProductTypes types{d.type(1), d.type(2), d.type(3)};
    Emission e;
    e.full = matrix_product(types);
    if (!e.full || d.type(0) != types.c) d.fail_form();
    const ProductShape shape = shape_of(d, types.a);
    e.detail = shape.encoded();
    emit_product(d, std::move(e), types,
                 {shape.c(types.c), shape.a(types.a), shape.b(types.b), shape.c(types.c)});
}

// wmma.mma.sync.aligned.alayout.blayout.shape{.satfinite}.dtype{.atype.btype}.ctype d, a, b, c:
// without the types of a and b, these are .f16
void decode_fragment_product(StatementDecoder& d) {
    std::vector<bool> layouts;
    for (const std::string& m : d.statement().modifiers)
        if (m == "row" || m == "col") layouts.push_back(m == "row");
    if (layouts.size() != 2) d.fail("a and b need a layout: .row or .col");
    const bool halves = d.types().size() == 2;
    const ProductTypes types = halves ? ProductTypes{Type::f16, Type::f16, d.type(1)}
                                      : ProductTypes{d.type(1), d.type(2), d.type(3)};
    Emission e;
    e.full = fragment_product(types);
    FragmentProduct form;
    form.k = types.a == Type::f64 ? 4 : types.a == Type::tf32 ? 8 : 16;
    form.a_is_row = layouts[0];
    form.b_is_row = layouts[1];
    const char* const shape = form.k == 4 ? "m8n8k4" : form.k == 8 ? "m16n16k8" : "m16n16k16";
    if (!e.full || d.type(0) != types.c || !d.has(shape))
        d.fail("the emulator does not execute this form of wmma");
    e.detail = form.encoded();
    const unsigned factor = types.a == Type::f16    ? 8
                            : types.a == Type::f64  ? 1
                            : bits_of(types.a) == 8 ? 2
                                                    : 4;
    const unsigned sum = types.c == Type::f64 ? 2 : types.c == Type::f16 ? 4 : 8;
    emit_product(d, std::move(e), types, {sum, factor, factor, sum});
}

}  // namespace warpscope::emulator
