#include <fmt/format.h>

#include <map>

#include "emulator/decode/decoder.h"
#include "emulator/ptx/opcode_traits.h"

namespace warpscope::emulator {

namespace {

VectorOp integer_op(std::string_view op, Type type) {
    using enum VectorOp;
    using Key = std::pair<std::string_view, Type>;
    static const std::map<Key, VectorOp> table = {
        {{"add", Type::u32}, add_b32},           {{"add", Type::s32}, add_b32},
        {{"sub", Type::u32}, sub_b32},           {{"sub", Type::s32}, sub_b32},
        {{"mul.lo", Type::u32}, mul_lo_b32},     {{"mul.lo", Type::s32}, mul_lo_b32},
        {{"mad.lo", Type::u32}, mad_lo_b32},     {{"mad.lo", Type::s32}, mad_lo_b32},
        {{"and", Type::b32}, and_b32},           {{"or", Type::b32}, or_b32},
        {{"xor", Type::b32}, xor_b32},           {{"not", Type::b32}, not_b32},
        {{"shl", Type::b32}, shl_b32},           {{"shr", Type::u32}, shr_u32},
        {{"shr", Type::b32}, shr_u32},           {{"shr", Type::s32}, shr_s32},
        {{"min", Type::u32}, min_u32},           {{"min", Type::s32}, min_s32},
        {{"max", Type::u32}, max_u32},           {{"max", Type::s32}, max_s32},
        {{"neg", Type::s32}, neg_s32},           {{"abs", Type::s32}, abs_s32},
        {{"add", Type::u64}, add_b64},           {{"add", Type::s64}, add_b64},
        {{"sub", Type::u64}, sub_b64},           {{"sub", Type::s64}, sub_b64},
        {{"and", Type::b64}, and_b64},           {{"or", Type::b64}, or_b64},
        {{"xor", Type::b64}, xor_b64},           {{"shl", Type::b64}, shl_b64},
        {{"shr", Type::u64}, shr_u64},           {{"shr", Type::b64}, shr_u64},
        {{"mul.wide", Type::u32}, mul_wide_u32}, {{"mul.wide", Type::s32}, mul_wide_s32},
        {{"mad.wide", Type::u32}, mad_wide_u32}, {{"mad.wide", Type::s32}, mad_wide_s32}};
    const auto found = table.find({op, type});
    return found == table.end() ? none : found->second;
}

VectorOp float_op(std::string_view op, Type type) {
    using enum VectorOp;
    static const std::map<std::string_view, VectorOp> single = {
        {"add", add_f32},   {"sub", sub_f32},   {"mul", mul_f32},
        {"fma", fma_f32},   {"min", min_f32},   {"max", max_f32},
        {"neg", neg_f32},   {"abs", abs_f32},   {"div", div_f32},
        {"sqrt", sqrt_f32}, {"rcp", rcp_f32},   {"rsqrt", rsqrt_f32},
        {"sin", sin_f32},   {"cos", cos_f32},   {"ex2", ex2_f32},
        {"lg2", lg2_f32},   {"tanh", tanh_f32}, {"rsqrt.ftz", rsqrt_ftz_f32}};
    static const std::map<std::string_view, VectorOp> wide = {
        {"add", add_f64}, {"sub", sub_f64}, {"mul", mul_f64}, {"fma", fma_f64}};
    const auto& table = type == Type::f64 ? wide : single;
    const auto found = table.find(op);
    return found == table.end() ? none : found->second;
}

size_t source_count(std::string_view op) {
    static const std::map<std::string_view, size_t> counts = {
        {"neg", 1},   {"abs", 1},  {"not", 1}, {"cnot", 1},  {"popc", 1}, {"clz", 1}, {"brev", 1},
        {"bfind", 1}, {"sqrt", 1}, {"rcp", 1}, {"rsqrt", 1}, {"sin", 1},  {"cos", 1}, {"ex2", 1},
        {"lg2", 1},   {"tanh", 1}, {"mad", 3}, {"fma", 3},   {"sad", 3},  {"bfe", 3}, {"prmt", 3},
        {"shf", 3},   {"bfi", 4},  {"fns", 3}, {"mad24", 3}};
    const auto found = counts.find(op);
    return found == counts.end() ? 2 : found->second;
}

}  // namespace

bool Decoder::decode_arithmetic(const Statement& s) {
    if (decode_extended(s)) return true;
    static const std::map<std::string_view, void (Decoder::*)(const Statement&)> special = {
        {"mov", &Decoder::decode_mov},    {"cvt", &Decoder::decode_cvt},
        {"cvta", &Decoder::decode_cvta},  {"setp", &Decoder::decode_setp},
        {"set", &Decoder::decode_set},    {"selp", &Decoder::decode_selp},
        {"slct", &Decoder::decode_selp},  {"lop3", &Decoder::decode_lop3},
        {"testp", &Decoder::decode_testp}};
    if (const auto found = special.find(s.opcode); found != special.end()) {
        (this->*found->second)(s);
        return true;
    }
    static constexpr std::string_view known[] = {
        "add", "sub", "mul",   "mad",  "fma",  "div",  "rem",  "min",   "max",   "neg",
        "abs", "and", "or",    "xor",  "not",  "cnot", "shl",  "shr",   "shf",   "bfe",
        "bfi", "fns", "bfind", "prmt", "popc", "clz",  "brev", "sad",   "bmsk",  "sqrt",
        "rcp", "sin", "rsqrt", "cos",  "ex2",  "lg2",  "tanh", "mul24", "mad24", "copysign"};
    bool is_known = false;
    for (std::string_view op : known) is_known |= s.opcode == op;
    if (!is_known) return false;
    Modifiers m(s);
    const auto type = m.take_type();
    if (!type) fail("a type is needed");
    expect_operands(s, source_count(s.opcode) + 1);
    if (*type == Type::pred)
        decode_predicate_logic(s);
    else if (*type == Type::f16 || *type == Type::f16x2)
        decode_half(s, m, *type);
    else if (is_float(*type))
        decode_float(s, m, *type);
    else
        decode_integer(s, m, *type);
    return true;
}

void Decoder::decode_integer(const Statement& s, Modifiers& m, Type type) {
    std::string op = s.opcode;
    Type result = type;
    for (const char* part : {"lo", "hi", "wide", "l", "r", "wrap", "clamp", "shiftamt", "sat",
                             "f4e", "b4e", "rc8", "ecl", "ecr", "rc16"})
        if (m.take(part)) op += std::string(".") + part;
    finish(m);
    if (op.ends_with(".wide"))
        result = bits_of(type) == 32 ? (is_signed(type) ? Type::s64 : Type::u64) : Type::b32;
    if (op == "popc" || op == "clz" || op.starts_with("bfind")) result = Type::b32;
    std::vector<std::uint32_t> operands = {destination(s.operands[0])};
    for (size_t k = 1; k < s.operands.size(); ++k)
        operands.push_back(source(s.operands[k], k == 3 && op == "mad.wide" ? result : type));
    emit_vector_op(integer_op(op, type), integer_lanes(op, type), s, result, std::move(operands));
}

void Decoder::decode_float(const Statement& s, Modifiers& m, Type type) {
    std::string op = s.opcode == "mad" ? "fma" : s.opcode;
    const bool flushes = m.take("ftz");
    const bool by_itself = op == "neg" || op == "abs" || op == "copysign" ||
                           (op == "rsqrt" && type == Type::f32 && flushes);
    if (!by_itself) keep_subnormals_ = kernel_->flush_subnormals && !flushes;
    m.take("rn");
    for (const auto& [name, mode] :
         {std::pair{"rz", FE_TOWARDZERO}, {"rm", FE_DOWNWARD}, {"rp", FE_UPWARD}})
        if (m.take(name)) rounding_ = mode;
    m.take("approx");
    m.take("full");
    if (m.take("sat")) op += ".sat";
    finish(m);
    if (by_itself && flushes) op += ".ftz";
    std::vector<std::uint32_t> operands = {destination(s.operands[0])};
    for (size_t k = 1; k < s.operands.size(); ++k) operands.push_back(source(s.operands[k], type));
    emit_vector_op(float_op(op, type), float_lanes(op, type), s, type, std::move(operands));
}

void Decoder::decode_predicate_logic(const Statement& s) {
    const Handler handler = s.opcode == "and"   ? predicate_and
                            : s.opcode == "or"  ? predicate_or
                            : s.opcode == "xor" ? predicate_xor
                            : s.opcode == "not" ? predicate_not
                                                : nullptr;
    if (!handler) fail("predicates know and, or, xor, not and mov");
    std::vector<std::uint32_t> sources;
    for (size_t k = 1; k < s.operands.size(); ++k)
        sources.push_back(predicate_source(s.operands[k]));
    emit_predicate(handler, destination(s.operands[0]), std::move(sources));
}

void Decoder::decode_mov(const Statement& s) {
    Modifiers m(s);
    const auto type = m.take_type();
    if (!type) fail("a type is needed");
    finish(m);
    expect_operands(s, 2);
    const Operand &to = s.operands[0], &from = s.operands[1];
    const unsigned bits = bits_of(*type);
    if (*type == Type::pred)
        return emit_predicate(predicate_move, destination(to), {predicate_source(from)});
    if (from.kind == Operand::special && special_named(from.name) == Special::none) {
        const bool wall_clock = from.name.starts_with("%globaltimer");
        if (!wall_clock && !from.name.starts_with("%clock"))
            fail(fmt::format("unknown register '{}'", from.name));
        Emission e;
        e.full = read_clock;
        check_width(to, *type);
        e.masked = destination(to) & 1 ? nullptr : masked_handler(bits);
        e.operands = {destination(to)};
        e.target = bits;
        e.detail = wall_clock;
        e.checkpoint = true;
        return emit(e);
    }
    if (from.kind == Operand::vector) {
        if (from.elements.size() != 2 && (from.elements.size() != 4 || bits != 64))
            fail("unknown form of mov");
        const Type part = bits / from.elements.size() == 32 ? Type::b32 : Type::b16;
        std::vector<std::uint32_t> parts;
        for (const Operand& o : from.elements) parts.push_back(source(o, part));
        const Handler pack = bits == 64 ? (parts.size() == 2 ? pack_32 : pack_4x16) : pack_16;
        return emit_value(pack, destination(to), bits, std::move(parts));
    }
    if (to.kind == Operand::vector) {
        if (to.elements.size() != 2) fail("unknown form of mov");
        Emission e;
        e.full = bits == 64 ? unpack_32 : unpack_16;
        e.operands = {destination(to.elements[0]), destination(to.elements[1]),
                      source(from, *type)};
        return emit(e);
    }
    emit_vector_op(bits == 64 ? VectorOp::mov_b64 : VectorOp::mov_b32, nullptr, s, *type,
                   {destination(to), source(from, *type)});
}

// cvta moves addresses between a space and the generic one. Global and constant memory stand in
// the generic space at their own addresses, shared and local memory in a window.
void Decoder::decode_cvta(const Statement& s) {
    Modifiers m(s);
    const bool to_space = m.take("to");
    const Space space = take_space(m);
    const auto type = m.take_type();
    finish(m);
    expect_operands(s, 2);
    if (!type || bits_of(*type) != 64) fail("addresses have 64 bits");
    const std::uint32_t d = destination(s.operands[0]), a = source(s.operands[1], Type::b64);
    if (space != Space::shared && space != Space::local)
        return emit_vector_op(VectorOp::mov_b64, nullptr, s, Type::b64, {d, a});
    const std::uint32_t window =
        file_.constant(space == Space::shared ? shared_window : local_window);
    emit_vector_op(to_space ? VectorOp::sub_b64 : VectorOp::add_b64, nullptr, s, Type::b64,
                   {d, a, window});
}

void Decoder::decode_cvt(const Statement& s) {
    Modifiers m(s);
    Conversion c;
    static constexpr std::pair<std::string_view, Rounding> roundings[] = {{"n", Rounding::nearest},
                                                                          {"z", Rounding::zero},
                                                                          {"m", Rounding::down},
                                                                          {"p", Rounding::up}};
    for (const auto& [letter, rounding] : roundings) {
        if (m.take("r" + std::string(letter))) c.rounding = rounding;
        if (m.take("r" + std::string(letter) + "i")) {
            c.rounding = rounding;
            c.to_integral = true;
        }
    }
    const bool flushes = m.take("ftz");
    c.saturate = m.take("sat");
    const auto to = m.take_type(), from = m.take_type();
    if (!to || !from) fail("two types are needed");
    finish(m);
    expect_operands(s, 2);
    const auto plain = [](Type t) {  // b8 … b64 convert as unsigned
        return t >= Type::b8 && t <= Type::b64
                   ? Type(unsigned(t) - unsigned(Type::b8) + unsigned(Type::u8))
                   : t;
    };
    c.to = plain(*to);
    c.from = plain(*from);
    keep_subnormals_ = kernel_->flush_subnormals && !flushes && is_float(c.from);
    const std::uint32_t d = destination(s.operands[0]);
    std::uint32_t a = source(s.operands[1], c.from);
    if (register_bits(s.operands[1]) == 64 && bits_of(c.from) < 64 && !(a & 1)) {
        const std::uint32_t low = file_.vector(32);  // handlers step by the type's width
        emit_value(convert_handler(VectorOp::cvt_u32_u64, {}), low, 32, {a});
        a = low;
    }
    VectorOp op = VectorOp::none;
    const auto is = [&](Type t, Type f) { return c.to == t && c.from == f && !c.saturate; };
    if (is(Type::f32, Type::s32) && c.rounding == Rounding::nearest) op = VectorOp::cvt_f32_s32;
    if (is(Type::f32, Type::u32) && c.rounding == Rounding::nearest) op = VectorOp::cvt_f32_u32;
    if (is(Type::s32, Type::f32) && c.rounding == Rounding::zero) op = VectorOp::cvt_s32_f32;
    if (is(Type::s32, Type::f32) && c.rounding == Rounding::nearest)
        op = VectorOp::cvt_s32_f32_near;
    if (is(Type::f32, Type::f32) && c.to_integral && c.rounding == Rounding::nearest)
        op = VectorOp::cvt_f32_whole;
    if (is(Type::u32, Type::f32) && c.rounding == Rounding::zero) op = VectorOp::cvt_u32_f32;
    if (is(Type::u64, Type::u32) || is(Type::s64, Type::u32)) op = VectorOp::cvt_u64_u32;
    if (is(Type::s64, Type::s32) || is(Type::u64, Type::s32)) op = VectorOp::cvt_s64_s32;
    const bool low_half =
        bits_of(c.from) == 64 && !is_float(c.from) && bits_of(c.to) == 32 && !is_float(c.to);
    if (low_half && !c.saturate) op = VectorOp::cvt_u32_u64;
    // A 16-bit register is the low half of a 32-bit slot; its readers ignore the rest.
    const bool narrows =
        bits_of(c.to) == 16 && bits_of(c.from) == 32 && !is_float(c.from) && !is_float(c.to);
    if (narrows && !c.saturate && register_bits(s.operands[0]) == 16) op = VectorOp::mov_b32;
    Shape shape;
    shape.uniform_result = d & 1;
    shape.uniform_sources = a & 1;
    Handler handler = convert_handler(op, shape);
    if (!handler) handler = conversion_lanes(c);
    if (!handler) fail("unknown conversion");
    emit_value(handler, d, std::max(32u, bits_of(c.to)), {a}, encode_rounding(c));
    // An integer narrower than a 64-bit register that it goes into is not something PTX's own
    // compiler writes.
    if (bits_of(c.to) < 64 && register_bits(s.operands[0]) == 64) fail("the register is too wide");
}

void Decoder::decode_lop3(const Statement& s) {
    Modifiers m(s);
    m.take("b32");
    finish(m);
    expect_operands(s, 5);
    if (s.operands[4].kind != Operand::integer) fail("the truth table is not a number");
    emit_value(lop3_lanes, destination(s.operands[0]), 32,
               {source(s.operands[1], Type::b32), source(s.operands[2], Type::b32),
                source(s.operands[3], Type::b32)},
               0, s.operands[4].value);
}

void Decoder::decode_selp(const Statement& s) {
    Modifiers m(s);
    const auto type = m.take_type();
    if (!type) fail("a type is needed");
    expect_operands(s, 4);
    std::uint32_t p;
    if (s.opcode == "slct") {  // a where c >= 0, else b
        m.take("ftz");
        const auto of = m.take_type();
        if (!of) fail("slct needs two types");
        p = new_predicate();
        Emission e;
        e.full = compare_lanes("ge", *of);
        e.operands = {p, source(s.operands[3], *of), file_.constant(0)};
        emit_raw(e, true);
    } else {
        p = predicate_source(s.operands[3]);
    }
    finish(m);
    emit_vector_op(bits_of(*type) == 64 ? VectorOp::selp_b64 : VectorOp::selp_b32, nullptr, s,
                   *type,
                   {destination(s.operands[0]), source(s.operands[1], *type),
                    source(s.operands[2], *type), p});
}

}  // namespace warpscope::emulator
