#include "emulator/decode/statement_decoder.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "emulator/handlers/lane_operations.h"

// PTX ISA 9.7.6, "Comparison and Selection Instructions", and testp.

namespace warpscope::emulator {
namespace {

// {!}a op {!}b
void decode_predicate_logic(StatementDecoder& d) {
    const Handler handler = arithmetic_handler({d.operation(), Type::pred}, {});
    if (!handler) d.fail("predicates have and, or, xor, not and mov only");
    std::vector<std::uint32_t> sources;
    for (std::size_t k = 1; k < d.statement().operands.size(); ++k)
        sources.push_back(d.predicate_source(d.operand(k)));
    d.emit_predicate(handler, d.destination(d.operand(0)), emission_of(std::move(sources)));
}

Rounding rounding_of(const Statement& s) {
    if (s.has("rz")) return Rounding::zero;
    if (s.has("rm")) return Rounding::down;
    return s.has("rp") ? Rounding::up : Rounding::nearest;
}

// True for operations whose .ftz form does not need the CPU's flush mode: neg, abs and copysign
// ignore the mode, and rsqrt is so frequent that its .ftz form has a handler of its own.
bool flushes_by_itself(const Arithmetic& a, bool ftz) {
    switch (a.operation) {
        case Operation::fneg:
        case Operation::fabs:
        case Operation::copysign:
            return true;
        case Operation::frsqrt:
            return a.type == Type::f32 && ftz;
        default:
            return false;
    }
}

Arithmetic float_arithmetic(StatementDecoder& d) {
    const bool ftz = d.has("ftz");
    Arithmetic a{d.operation(), d.type(), d.has("sat"), ftz, d.has("relu")};
    const Rounding rounding = rounding_of(d.statement());
    if (is_half(a.type)) {
        if (rounding != Rounding::nearest)
            d.fail("f16 and bf16 are rounded to the nearest value only");
        return a;
    }
    if (a.rectifies) d.fail_form();
    if (a.operation == Operation::fmad) a.operation = Operation::fma;
    a.flushes = ftz && flushes_by_itself(a, ftz);
    d.float_mode.rounding = rounding;
    if (!flushes_by_itself(a, ftz)) d.float_mode.subnormals = d.subnormals();
    return a;
}

/// A slot for a value that the statement computes on the way to its result.
std::uint32_t new_value(StatementDecoder& d, unsigned bits) {
    return is_uniform(d.destination(d.operand(0))) ? d.state().slots.uniform()
                                                   : d.state().slots.vector(bits);
}

// Computes a value on the way to the result, which begins `operands`: for all lanes, without the
// guard of the statement.
void insert_arithmetic(StatementDecoder& d, const Arithmetic& a,
                       const std::vector<std::uint32_t>& operands) {
    Emission e = emission_of(operands);
    e.full = arithmetic_handler(a, kinds_of(operands));
    e.operation = a.operation;
    e.type = a.type;
    d.emit_inserted(std::move(e));
}

// min.relu.s32 d, a, b; max.relu.s32 d, a, b
void decode_rectified(StatementDecoder& d, Type type) {
    if (type != Type::s32) d.fail_form();
    const std::uint32_t value = new_value(d, 32);
    insert_arithmetic(d, {d.operation(), type}, {value, d.source(1, type), d.source(2, type)});
    d.emit_arithmetic({Operation::max, type}, type,
                      {d.destination(d.operand(0)), value, d.constant(0)});
}

}  // namespace

// op{.modifiers}.type d, a{, b{, c}}
void decode_arithmetic(StatementDecoder& d) {
    const Type type = d.type();
    if (type == Type::pred) return decode_predicate_logic(d);
    if (d.has("relu") && !is_float(type)) return decode_rectified(d, type);
    const Arithmetic a =
        is_float(type) ? float_arithmetic(d) : Arithmetic{d.operation(), type, d.has("sat"), false};
    std::vector<std::uint32_t> operands = {d.destination(d.operand(0))};
    for (std::size_t k = 1; k < d.statement().operands.size(); ++k)
        operands.push_back(d.source(k, type));
    d.emit_arithmetic(a, d.type_of(0, type), std::move(operands));
}

namespace {

/// What the pairs of an operation have in each half.
struct OfPair {
    Operation operation, each;
    Type type;
};
constexpr OfPair operations_of_pairs[] = {{Operation::add_f32x2, Operation::fadd, Type::f32},
                                          {Operation::sub_f32x2, Operation::fsub, Type::f32},
                                          {Operation::mul_f32x2, Operation::fmul, Type::f32},
                                          {Operation::fma_f32x2, Operation::fma, Type::f32},
                                          {Operation::add_u16x2, Operation::add, Type::u16},
                                          {Operation::add_s16x2, Operation::add, Type::s16},
                                          {Operation::min_u16x2, Operation::min, Type::u16},
                                          {Operation::min_s16x2, Operation::min, Type::s16},
                                          {Operation::max_u16x2, Operation::max, Type::u16},
                                          {Operation::max_s16x2, Operation::max, Type::s16}};

}  // namespace

// op{.rounding}{.ftz}{.relu}.type d, a, b{, c} of two numbers of 32 or 16 bits in each register:
// unpacks the sources, computes with both halves, and packs the results
void decode_pair(StatementDecoder& d) {
    const OfPair& pair = *std::ranges::find(operations_of_pairs, d.operation(), &OfPair::operation);
    const bool wide = pair.type == Type::f32;
    const Type whole = wide ? Type::b64 : Type::b32;
    std::vector<std::uint32_t> halves[2] = {{new_value(d, 32)}, {new_value(d, 32)}};
    for (std::size_t k = 1; k < d.statement().operands.size(); ++k) {
        for (auto& half : halves) half.push_back(new_value(d, 32));
        Emission unpack =
            emission_of({halves[0].back(), halves[1].back(), d.source(d.operand(k), whole)});
        unpack.full = wide ? unpack_32 : unpack_16;
        unpack.operation = Operation::unpack;
        unpack.type = whole;
        d.emit_inserted(std::move(unpack));
    }
    if (wide) {
        d.float_mode.rounding = rounding_of(d.statement());
        d.float_mode.subnormals = d.subnormals();
    }
    for (const auto& half : halves) {
        insert_arithmetic(d, {pair.each, pair.type}, half);
        if (d.has("relu"))
            insert_arithmetic(d, {Operation::max, pair.type}, {half[0], half[0], d.constant(0)});
    }
    d.float_mode = {};
    Emission pack = emission_of({halves[0][0], halves[1][0]});
    pack.operation = Operation::pack;
    pack.type = whole;
    d.emit_value(wide ? pack_32 : pack_16, d.destination(d.operand(0)), bits_of(whole),
                 std::move(pack));
}

// min and max: {.ftz}{.NaN}{.xorsign.abs}.type d, a, b; {.abs} with a third source c
void decode_extremum(StatementDecoder& d) {
    const Type type = d.type();
    Extremum e;
    e.is_max = d.operation() == Operation::fmax;
    e.flushes = d.has("ftz");
    e.keeps_nan = d.has("NaN");
    e.ignores_signs = d.has("abs");
    e.combines_signs = d.has("xorsign");
    e.sources = std::uint8_t(d.statement().operands.size() - 1);
    const bool is_plain = !e.keeps_nan && !e.ignores_signs && !e.combines_signs && e.sources == 2;
    if (is_plain && !is_half(type)) return decode_arithmetic(d);
    if (e.combines_signs != (e.ignores_signs && e.sources == 2)) d.fail_form();
    std::vector<std::uint32_t> sources;
    for (std::size_t k = 1; k <= e.sources; ++k) sources.push_back(d.source(k, type));
    Emission emission = emission_of(std::move(sources));
    emission.detail = e.encoded();
    emission.operation = Operation::extremum;
    emission.type = type;
    d.emit_value(extremum_lanes(type), d.destination(d.operand(0)), 32, std::move(emission));
}

// add{c}{.cc}.type d, a, b; sub{c}{.cc}.type d, a, b; mad{c}.hilo{.cc}.type d, a, b, c. They share
// one condition code register, CC.CF, which has a bit for each lane.
void decode_carry(StatementDecoder& d) {
    const Type type = d.type();
    Emission e;
    e.full = carry_lanes(d.operation(), type);
    if (!e.full) d.fail_form();
    d.check_width(d.operand(0), type);
    e.operands = {d.destination(d.operand(0))};
    for (std::size_t k = 1; k < d.statement().operands.size(); ++k)
        e.operands.push_back(d.source(k, type));
    e.operands.push_back(d.emitter().carry_slot());
    const bool takes = d.statement().name.ends_with('c'), leaves = d.has("cc");
    e.detail = std::uint16_t(unsigned(takes) | unsigned(leaves) << 1);
    d.emit(std::move(e));
}

// dp4a.atype.btype d, a, b, c; dp2a.mode.atype.btype d, a, b, c
void decode_dot_product(StatementDecoder& d) {
    const Type a = d.type(0), b = d.type(1);
    if ((a != Type::u32 && a != Type::s32) || (b != Type::u32 && b != Type::s32))
        d.fail("the types of the elements are .u32 or .s32");
    d.emit_value(dot_product_lanes(d.operation(), is_signed(a), is_signed(b)),
                 d.destination(d.operand(0)), 32,
                 emission_of({d.source(d.operand(1), a), d.source(d.operand(2), b),
                              d.source(d.operand(3), Type::b32)}));
}

// vabsdiffN.u32.type.type{.add} d, a, b, c, with all elements in their order
void decode_absolute_difference(StatementDecoder& d) {
    const Type a = d.type(1), b = d.type(2);
    if (d.type(0) != Type::u32 || a != b || (a != Type::u32 && a != Type::s32)) d.fail_form();
    d.emit_value(absolute_difference_lanes(d.operation(), is_signed(a), d.has("add")),
                 d.destination(d.operand(0)), 32,
                 emission_of({d.source(d.operand(1), a), d.source(d.operand(2), b),
                              d.source(d.operand(3), Type::b32)}));
}

// lop3.b32 d, a, b, c, truth table
void decode_truth_table(StatementDecoder& d) {
    if (d.type() != Type::b32) d.fail_form();
    if (d.operand(4).kind != Operand::integer) d.fail("the truth table is not a number");
    Emission e =
        emission_of({d.source(1, Type::b32), d.source(2, Type::b32), d.source(3, Type::b32)});
    e.immediate = d.operand(4).value;
    d.emit_value(lop3_lanes, d.destination(d.operand(0)), 32, std::move(e));
}

namespace {

struct NamedComparison {
    std::string_view name;
    Comparison comparison;
};

constexpr NamedComparison comparisons[] = {
    {"eq", Comparison::eq},   {"ne", Comparison::ne},   {"lt", Comparison::lt},
    {"le", Comparison::le},   {"gt", Comparison::gt},   {"ge", Comparison::ge},
    {"lo", Comparison::lt},   {"ls", Comparison::le},   {"hi", Comparison::gt},
    {"hs", Comparison::ge},   {"equ", Comparison::equ}, {"neu", Comparison::neu},
    {"ltu", Comparison::ltu}, {"leu", Comparison::leu}, {"gtu", Comparison::gtu},
    {"geu", Comparison::geu}, {"num", Comparison::num}, {"nan", Comparison::nan}};

Comparison comparison_of(const StatementDecoder& d, Type type) {
    for (const auto& [name, comparison] : comparisons) {
        if (!d.has(name)) continue;
        const bool of_unsigned = name == "lo" || name == "ls" || name == "hi" || name == "hs";
        if (of_unsigned && is_float(type)) d.fail(fmt::format("floats do not have .{}", name));
        return comparison;
    }
    d.fail("a comparison is needed: .eq, .ne, .lt and so on");
}

// setp and set combine the comparison with a predicate operand.
std::optional<Operation> combination_of(const StatementDecoder& d) {
    if (d.has("and")) return Operation::and_;
    if (d.has("or")) return Operation::or_;
    if (d.has("xor")) return Operation::xor_;
    return std::nullopt;
}

void expect_predicate_operand(const StatementDecoder& d, bool expected) {
    if ((d.statement().operands.size() == 4) == expected) return;
    d.fail(fmt::format("{} operands where {} are needed", d.statement().operands.size(),
                       expected ? 4 : 3));
}

Emission predicate_emission(Operation operation, std::vector<std::uint32_t> operands) {
    Emission e = emission_of(std::move(operands));
    e.full = arithmetic_handler({operation, Type::pred}, {});
    e.operation = operation;
    e.type = Type::pred;
    return e;
}

Handler half_comparison(const StatementDecoder& d, Comparison comparison, Type type, bool high) {
    return compare_halves(comparison, type, d.has("ftz"), high);
}

// setp.cmp{.ftz}.f16x2 or .bf16x2 p|q, a, b: p compares the lower halves, q the upper halves
void decode_compare_of_pairs(StatementDecoder& d) {
    const Comparison comparison = comparison_of(d, d.type());
    expect_predicate_operand(d, false);
    const Operand& to = d.operand(0);
    if (to.kind != Operand::pair) d.fail("two predicates are needed, one for each half");
    for (unsigned high = 0; high < 2; ++high)
        if (const std::uint32_t p = d.destination(to.elements[high])) {
            Emission e = emission_of({d.source(1, Type::b32), d.source(2, Type::b32)});
            e.detail = std::uint16_t(comparison);
            d.emit_predicate(half_comparison(d, comparison, d.type(), high), p, std::move(e));
        }
}

}  // namespace

std::uint32_t emit_comparison(StatementDecoder& d, Comparison comparison, Type type,
                              std::uint32_t into, const Operand& a, const Operand& b) {
    if (is_float(type) && !is_half(type)) d.float_mode.subnormals = d.subnormals();
    const std::uint32_t x = d.source(a, type), y = d.source(b, type);
    Emission e = emission_of({x, y});
    e.operation = Operation::setp;
    e.type = type;
    e.detail = std::uint16_t(comparison);
    const Handler handler = is_half(type)
                                ? half_comparison(d, comparison, type, false)
                                : comparison_handler(comparison, type, kinds_of({0, x, y}));
    if (!handler) d.fail(fmt::format("{} does not have this comparison", name_of(type)));
    if (into) {
        d.emit_predicate(handler, into, std::move(e));
        return into;
    }
    const std::uint32_t result = d.new_predicate();
    e.full = handler;
    e.operands.insert(e.operands.begin(), result);
    d.emit_inserted(std::move(e));
    d.float_mode = {};
    return result;
}

// setp.cmp{.bool}.type p{|q}, a, b{, c}: p = (a cmp b) bool c, q = !(a cmp b) bool c
void decode_compare(StatementDecoder& d) {
    const Type type = d.type();
    if (is_pair(type)) return decode_compare_of_pairs(d);
    const Comparison comparison = comparison_of(d, type);
    const auto combination = combination_of(d);
    expect_predicate_operand(d, combination.has_value());
    const Operand& to = d.operand(0);
    const bool pair = to.kind == Operand::pair;
    const std::uint32_t p = d.destination(pair ? to.elements[0] : to);
    const std::uint32_t q = pair ? d.destination(to.elements[1]) : 0;
    if (!combination && !pair) {
        emit_comparison(d, comparison, type, p, d.operand(1), d.operand(2));
        return;
    }
    const std::uint32_t result =
        emit_comparison(d, comparison, type, 0, d.operand(1), d.operand(2));
    const std::uint32_t c = combination ? d.predicate_source(d.operand(3)) : 0;
    const std::uint32_t inverse = d.new_predicate();
    if (q) d.emit_inserted(predicate_emission(Operation::not_, {inverse, result}));
    const auto write = [&](std::uint32_t to_slot, std::uint32_t value) {
        if (!to_slot) return;
        Emission e = combination ? predicate_emission(*combination, {value, c})
                                 : predicate_emission(Operation::mov, {value});
        const Handler handler = e.full;
        d.emit_predicate(handler, to_slot, std::move(e));
    };
    write(p, result);
    write(q, inverse);
}

namespace {

// set.cmp{.ftz}.dtype.atype d, a, b for f16, bf16 and pairs: 1.0 or all ones for true, in each half
// of a pair
void decode_set_of_halves(StatementDecoder& d) {
    const Type to = d.type(0), from = d.type(1);
    const bool packed = is_pair(from);
    if (!is_half(from) || (packed && bits_of(to) != 32) || to == Type::f32 || bits_of(to) > 32)
        d.fail_form();
    const Comparison comparison = comparison_of(d, from);
    expect_predicate_operand(d, false);
    std::uint32_t holds[2] = {d.constant(0), d.constant(0)};
    for (unsigned high = 0; high < (packed ? 2 : 1); ++high) {
        holds[high] = d.new_predicate();
        Emission e = emission_of({holds[high], d.source(1, Type::b32), d.source(2, Type::b32)});
        e.full = half_comparison(d, comparison, from, high);
        e.operation = Operation::setp;
        e.type = from;
        e.detail = std::uint16_t(comparison);
        d.emit_inserted(std::move(e));
    }
    const std::uint32_t destination = d.destination(d.operand(0));
    if (!packed && bits_of(to) == 32)
        return d.emit_value(set_lanes(false), destination, 32, emission_of({holds[0]}));
    Emission e = emission_of({holds[0], holds[1]});
    e.immediate = is_bfloat(to) ? Bfloat::one : is_float(to) ? Half::one : std::uint16_t(~0);
    d.emit_value(set_halves, destination, 32, std::move(e));
}

}  // namespace

// set.cmp{.bool}.dtype.stype d, a, b{, c}: 1.0f or all ones for true
void decode_set(StatementDecoder& d) {
    const Type to = d.type(0), from = d.type(1);
    if (is_half(to) || is_half(from)) return decode_set_of_halves(d);
    const auto combination = combination_of(d);
    if (bits_of(to) != 32) d.fail("the result of set has 32 bits");
    expect_predicate_operand(d, combination.has_value());
    const std::uint32_t result =
        emit_comparison(d, comparison_of(d, from), from, 0, d.operand(1), d.operand(2));
    if (combination)
        d.emit_inserted(
            predicate_emission(*combination, {result, result, d.predicate_source(d.operand(3))}));
    d.emit_value(set_lanes(is_float(to)), d.destination(d.operand(0)), 32, emission_of({result}));
}

// selp.type d, a, b, c: a where c holds, else b. slct.type.ctype d, a, b, c: a where c >= 0.
void decode_select(StatementDecoder& d) {
    const Type type = d.type();
    std::uint32_t p;
    if (d.operation() == Operation::slct) {
        const Type of = d.type(1);
        Emission e = emission_of({d.new_predicate(), d.source(d.operand(3), of), d.constant(0)});
        p = e.operands[0];
        e.full = compare_lanes(Comparison::ge, of);
        e.operation = Operation::setp;
        e.type = of;
        e.detail = std::uint16_t(Comparison::ge);
        if (!e.full) d.fail_form();
        if (is_float(of)) d.float_mode.subnormals = d.subnormals();
        d.emit_inserted(std::move(e));
        d.float_mode = {};
    } else {
        p = d.predicate_source(d.operand(3));
    }
    d.emit_arithmetic({Operation::selp, type}, type,
                      {d.destination(d.operand(0)), d.source(1, type), d.source(2, type), p});
}

// testp.op.type p, a
void decode_test(StatementDecoder& d) {
    const Type type = d.type();
    Handler handler = nullptr;
    for (const std::string& m : d.statement().modifiers)
        if (!handler) handler = test_lanes(m, type);
    d.emit_predicate(handler, d.destination(d.operand(0)), emission_of({d.source(1, type)}));
}

}  // namespace warpscope::emulator
