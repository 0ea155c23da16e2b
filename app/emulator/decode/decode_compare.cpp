#include <fmt/format.h>

#include <map>

#include "emulator/decode/decoder.h"

namespace warpscope::emulator {

namespace {

constexpr std::string_view comparisons[] = {"eq",  "ne",  "lt",  "le",  "gt",  "ge",
                                            "lo",  "ls",  "hi",  "hs",  "equ", "neu",
                                            "ltu", "leu", "gtu", "geu", "num", "nan"};

// The SIMD comparison, or VectorOp::none.
VectorOp comparison_op(std::string_view c, Type type) {
    using enum VectorOp;
    if (c == "lo") c = "lt";
    if (c == "ls") c = "le";
    if (c == "hi") c = "gt";
    if (c == "hs") c = "ge";
    static const std::map<std::string_view, unsigned> order = {{"eq", 0}, {"ne", 1}, {"lt", 2},
                                                               {"le", 3}, {"gt", 4}, {"ge", 5}};
    static const std::map<std::string_view, VectorOp> unordered = {
        {"neu", neu_f32}, {"ltu", ltu_f32}, {"leu", leu_f32}, {"gtu", gtu_f32}, {"geu", geu_f32}};
    static constexpr VectorOp f32[] = {eq_f32, ne_f32, lt_f32, le_f32, gt_f32, ge_f32};
    static constexpr VectorOp u32[] = {eq_b32, ne_b32, lt_u32, le_u32, gt_u32, ge_u32};
    static constexpr VectorOp s32[] = {eq_b32, ne_b32, lt_s32, le_s32, gt_s32, ge_s32};
    static constexpr VectorOp u64[] = {eq_b64, ne_b64, lt_u64, le_u64, gt_u64, ge_u64};
    static constexpr VectorOp s64[] = {eq_b64, ne_b64, lt_s64, le_s64, gt_s64, ge_s64};
    const auto found = order.find(c);
    if (found == order.end()) {
        const auto loose = unordered.find(c);
        return type == Type::f32 && loose != unordered.end() ? loose->second : none;
    }
    switch (type) {
        case Type::f32:
            return f32[found->second];
        case Type::u32:
        case Type::b32:
            return u32[found->second];
        case Type::s32:
            return s32[found->second];
        case Type::u64:
        case Type::b64:
            return u64[found->second];
        case Type::s64:
            return s64[found->second];
        default:
            return none;
    }
}

}  // namespace

// Compares into `into`, or into a new predicate where `into` is 0. `m` holds comparison and type.
std::uint32_t Decoder::emit_comparison(Modifiers& m, std::uint32_t into, const Operand& a,
                                       const Operand& b) {
    std::string_view comparison;
    for (std::string_view c : comparisons)
        if (comparison.empty() && m.take(c)) comparison = c;
    const bool flushes = m.take("ftz");
    const auto type = m.take_type();
    if (comparison.empty() || !type) fail("a comparison and a type are needed");
    keep_subnormals_ =
        kernel_->flush_subnormals && !flushes && is_float(*type) && *type != Type::f16;
    const std::uint32_t x = source(a, *type), y = source(b, *type);
    Shape shape;
    shape.uniform_sources = (x & 1) | (y & 1) << 1;
    Handler handler = compare_handler(comparison_op(comparison, *type), shape);
    if (!handler)
        handler = *type == Type::f16 ? compare_halves(comparison, flushes, false)
                                     : compare_lanes(comparison, *type);
    if (!handler) fail("unknown comparison");
    if (into) {
        emit_predicate(handler, into, {x, y});
        return into;
    }
    Emission e;
    e.full = handler;
    e.operands = {new_predicate(), x, y};
    const std::uint32_t result = e.operands[0];
    emit_float_mode();
    emit_raw(e, true);
    keep_subnormals_ = false;
    return result;
}

namespace {
Handler boolean_of(Modifiers& m) {
    if (m.take("and")) return predicate_and;
    if (m.take("or")) return predicate_or;
    if (m.take("xor")) return predicate_xor;
    return nullptr;
}
}  // namespace

// setp.cmp{.bool}.type p{|q}, a, b{, c}: p = (a cmp b) bool c, q = !(a cmp b) bool c.
void Decoder::decode_setp(const Statement& s) {
    Modifiers m(s);
    if (m.take("f16x2")) return decode_setp_halves(s, m);
    const Handler combine = boolean_of(m);
    expect_operands(s, combine ? 4 : 3);
    const Operand& d = s.operands[0];
    const bool pair = d.kind == Operand::pair;
    const std::uint32_t p = destination(pair ? d.elements[0] : d);
    const std::uint32_t q = pair ? destination(d.elements[1]) : 0;
    if (!combine && !pair) {
        emit_comparison(m, p, s.operands[1], s.operands[2]);
        return finish(m);
    }
    const std::uint32_t result = emit_comparison(m, 0, s.operands[1], s.operands[2]);
    finish(m);
    const std::uint32_t c = combine ? predicate_source(s.operands[3]) : 0;
    const std::uint32_t inverse = new_predicate();
    Emission e;
    e.full = predicate_not;
    e.operands = {inverse, result};
    if (q) emit_raw(e, true);
    const auto write = [&](std::uint32_t to, std::uint32_t value) {
        if (!to) return;
        if (combine)
            emit_predicate(combine, to, {value, c});
        else
            emit_predicate(predicate_move, to, {value});
    };
    write(p, result);
    write(q, inverse);
}

// set.cmp{.bool}.dtype.stype d, a, b{, c}: 1.0f or all ones for true.
void Decoder::decode_set(const Statement& s) {
    Modifiers m(s);
    if (s.has("f16") || s.has("f16x2")) return decode_set_halves(s, m);
    const Handler combine = boolean_of(m);
    const auto type = m.take_type();
    if (!type || bits_of(*type) != 32) fail("set gives 32-bit values");
    expect_operands(s, combine ? 4 : 3);
    std::uint32_t result = emit_comparison(m, 0, s.operands[1], s.operands[2]);
    finish(m);
    if (combine) {
        Emission e;
        e.full = combine;
        e.operands = {result, result, predicate_source(s.operands[3])};
        emit_raw(e, true);
    }
    emit_value(set_lanes(is_float(*type)), destination(s.operands[0]), 32, {result});
}

namespace {
std::string_view comparison_in(Modifiers& m) {
    for (std::string_view c : comparisons)
        if (m.take(c)) return c;
    return "";
}
}  // namespace

// setp.cmp{.ftz}.f16x2 p|q, a, b: of the lower and of the upper halves.
void Decoder::decode_setp_halves(const Statement& s, Modifiers& m) {
    const bool flushes = m.take("ftz");
    const std::string_view comparison = comparison_in(m);
    finish(m);
    expect_operands(s, 3);
    const Operand& d = s.operands[0];
    if (d.kind != Operand::pair) fail("two predicates are needed, one for each half");
    for (unsigned high = 0; high < 2; ++high) {
        const Handler handler = compare_halves(comparison, flushes, high);
        if (!handler) fail("unknown comparison");
        if (const std::uint32_t p = destination(d.elements[high]))
            emit_predicate(handler, p,
                           {source(s.operands[1], Type::b32), source(s.operands[2], Type::b32)});
    }
}

// set.cmp{.ftz}.dtype.f16 or .f16x2 d, a, b: 1.0 or all ones for true, in each half of f16x2.
void Decoder::decode_set_halves(const Statement& s, Modifiers& m) {
    const bool flushes = m.take("ftz");
    const std::string_view comparison = comparison_in(m);
    const auto to = m.take_type(), from = m.take_type();
    finish(m);
    expect_operands(s, 3);
    const bool packed = from == Type::f16x2;
    if (!to || !from || (!packed && from != Type::f16) || (packed && bits_of(*to) != 32))
        fail("unknown form of set");
    if (*to == Type::f32 || bits_of(*to) > 32) fail("unknown form of set");
    std::uint32_t holds[2] = {file_.constant(0), file_.constant(0)};
    for (unsigned high = 0; high < (packed ? 2 : 1); ++high) {
        Emission e;
        e.full = compare_halves(comparison, flushes, high);
        if (!e.full) fail("unknown comparison");
        holds[high] = new_predicate();
        e.operands = {holds[high], source(s.operands[1], Type::b32),
                      source(s.operands[2], Type::b32)};
        emit_raw(e, true);
    }
    const std::uint32_t d = destination(s.operands[0]);
    if (!packed && bits_of(*to) == 32) return emit_value(set_lanes(false), d, 32, {holds[0]});
    emit_value(set_halves, d, 32, {holds[0], holds[1]}, 0,
               is_float(*to) ? Half::one : std::uint16_t(~0));
}

// testp.op.type p, a
void Decoder::decode_testp(const Statement& s) {
    Modifiers m(s);
    const auto type = m.take_type();
    if (!type || m.left().size() != 1) fail("unknown form of testp");
    expect_operands(s, 2);
    const Handler handler = test_lanes(m.left()[0], *type);
    if (!handler) fail("unknown form of testp");
    emit_predicate(handler, destination(s.operands[0]), {source(s.operands[1], *type)});
}

}  // namespace warpscope::emulator
