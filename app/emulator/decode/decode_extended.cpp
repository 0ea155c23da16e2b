// Half precision, sums with a carry, and what stands beside the usual arithmetic.
#include <fmt/format.h>

#include "emulator/decode/decoder.h"
#include "emulator/ptx/opcode_traits.h"

namespace warpscope::emulator {

bool Decoder::decode_extended(const Statement& s) {
    if (uses_carry(s))
        decode_carry(s);
    else if (s.opcode == "dp2a" || s.opcode == "dp4a")
        decode_dot_product(s);
    else if (s.opcode == "vabsdiff2" || s.opcode == "vabsdiff4")
        decode_absolute_difference(s);
    else if (s.opcode == "isspacep")
        decode_space_test(s);
    else
        return false;
    return true;
}

// add{c}{.cc}.type d, a, b; sub the same; mad{c}.hilo{.cc}.type d, a, b, c. All kinds use one
// condition code register, CC.CF, a bit of each lane.
void Decoder::decode_carry(const Statement& s) {
    Modifiers m(s);
    CarryOperation operation;
    operation.leaves = m.take("cc");
    operation.takes = s.opcode.ends_with('c');
    const bool is_mad = s.opcode.starts_with("mad");
    if (is_mad)
        operation.kind = m.take("hi") ? CarryOperation::mad_hi : CarryOperation::mad_lo;
    else
        operation.kind = s.opcode.starts_with("sub") ? CarryOperation::sub : CarryOperation::add;
    m.take("lo");
    const auto type = m.take_type();
    if (!type) fail("a type is needed");
    finish(m);
    expect_operands(s, is_mad ? 4 : 3);
    Emission e;
    e.full = carry_lanes(operation, *type);
    if (!e.full) fail(fmt::format("unknown form of {}", s.opcode));
    check_width(s.operands[0], *type);
    e.operands = {destination(s.operands[0])};
    for (size_t k = 1; k < s.operands.size(); ++k)
        e.operands.push_back(source(s.operands[k], *type));
    if (!carry_) carry_ = new_predicate();
    e.operands.push_back(carry_);
    e.detail = std::uint16_t(unsigned(operation.takes) | unsigned(operation.leaves) << 1);
    emit(e);
}

// dp4a.atype.btype d, a, b, c; dp2a.mode.atype.btype d, a, b, c
void Decoder::decode_dot_product(const Statement& s) {
    Modifiers m(s);
    const bool four = s.opcode == "dp4a";
    const bool high = !four && m.take("hi");
    if (!four && !high && !m.take("lo")) fail("dp2a takes the .lo or the .hi bytes");
    const auto a = m.take_type(), b = m.take_type();
    const auto fits = [](std::optional<Type> t) { return t == Type::u32 || t == Type::s32; };
    if (!fits(a) || !fits(b)) fail("two 32-bit types are needed");
    finish(m);
    expect_operands(s, 4);
    emit_value(
        dot_product_lanes(four, high, is_signed(*a), is_signed(*b)), destination(s.operands[0]), 32,
        {source(s.operands[1], *a), source(s.operands[2], *b), source(s.operands[3], Type::b32)});
}

// vabsdiffN.u32.type.type{.add} d, a, b, c: of all elements in their order.
void Decoder::decode_absolute_difference(const Statement& s) {
    Modifiers m(s);
    const bool adds = m.take("add");
    const auto d = m.take_type(), a = m.take_type(), b = m.take_type();
    if (d != Type::u32 || a != b || (a != Type::u32 && a != Type::s32))
        fail(fmt::format("unknown form of {}", s.opcode));
    finish(m);
    expect_operands(s, 4);
    emit_value(
        absolute_difference_lanes(s.opcode == "vabsdiff2" ? 2 : 4, is_signed(*a), adds),
        destination(s.operands[0]), 32,
        {source(s.operands[1], *a), source(s.operands[2], *b), source(s.operands[3], Type::b32)});
}

// isspacep.space p, a
void Decoder::decode_space_test(const Statement& s) {
    Modifiers m(s);
    const Handler handler = space_test(take_space(m));
    finish(m);
    if (!handler) fail("isspacep knows shared, local and global memory");
    expect_operands(s, 2);
    if (register_bits(s.operands[1]) != 64) fail("addresses have 64 bits");
    emit_predicate(handler, destination(s.operands[0]), {source(s.operands[1], Type::b64)});
}

// op{.rnd}{.ftz}{.sat}.f16 or .f16x2; .approx of ex2 and tanh.
void Decoder::decode_half(const Statement& s, Modifiers& m, Type type) {
    m.take("rn");
    m.take("approx");
    const bool flushes = m.take("ftz"), saturates = m.take("sat");
    finish(m);
    const Handler handler = half_lanes(s.opcode, type == Type::f16x2, flushes, saturates);
    if (!handler) fail(fmt::format("unknown form of {}", s.opcode));
    std::vector<std::uint32_t> sources;
    for (size_t k = 1; k < s.operands.size(); ++k) sources.push_back(source(s.operands[k], type));
    emit_value(handler, destination(s.operands[0]), 32, std::move(sources));
}

}  // namespace warpscope::emulator
