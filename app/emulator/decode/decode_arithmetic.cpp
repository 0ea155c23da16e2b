#include "emulator/decode/statement_decoder.h"
#include "emulator/handlers/lane_operations.h"

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

int rounding_of(const Statement& s) {
    if (s.has("rz")) return FE_TOWARDZERO;
    if (s.has("rm")) return FE_DOWNWARD;
    return s.has("rp") ? FE_UPWARD : FE_TONEAREST;
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
    const int rounding = rounding_of(d.statement());
    if (is_half(a.type)) {
        if (rounding != FE_TONEAREST) d.fail("f16 and bf16 are rounded to the nearest value only");
        return a;
    }
    if (a.rectifies) d.fail_form();
    if (a.operation == Operation::fmad) a.operation = Operation::fma;
    a.flushes = ftz && flushes_by_itself(a, ftz);
    d.float_mode.rounding = rounding;
    d.float_mode.keeps_subnormals =
        d.state().kernel->flush_subnormals && !ftz && !flushes_by_itself(a, ftz);
    return a;
}

}  // namespace

// op{.modifiers}.type d, a{, b{, c}}
void decode_arithmetic(StatementDecoder& d) {
    const Type type = d.type();
    if (type == Type::pred) return decode_predicate_logic(d);
    const Arithmetic a =
        is_float(type) ? float_arithmetic(d) : Arithmetic{d.operation(), type, d.has("sat"), false};
    std::vector<std::uint32_t> operands = {d.destination(d.operand(0))};
    for (std::size_t k = 1; k < d.statement().operands.size(); ++k)
        operands.push_back(d.source(k, type));
    d.emit_arithmetic(a, d.type_of(0, type), std::move(operands));
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

}  // namespace warpscope::emulator
