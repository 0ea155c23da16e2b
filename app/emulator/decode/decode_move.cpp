#include <algorithm>

#include "emulator/decode/statement_decoder.h"
#include "emulator/handlers/lane_operations.h"

// PTX ISA 9.7.9, "Data Movement and Conversion Instructions", without loads and stores.
namespace warpscope::emulator {

namespace {

// mov d, %clock; mov d, %globaltimer
void decode_clock(StatementDecoder& d, Type type) {
    const std::string& name = d.operand(1).name;
    const bool wall_clock = name.starts_with("%globaltimer");
    if (!wall_clock && !name.starts_with("%clock"))
        d.fail("unknown special register '" + name + "'");
    d.check_width(d.operand(0), type);
    const std::uint32_t destination = d.destination(d.operand(0));
    Emission e = emission_of({destination});
    e.full = read_clock;
    e.masked = is_uniform(destination) ? nullptr : masked_handler(bits_of(type));
    e.target = bits_of(type);
    e.detail = wall_clock;
    e.cost_point = true;
    e.operation = Operation::read_clock;
    e.type = type;
    d.emit(std::move(e));
}

// mov d, {a, b}; mov d, {a, b, c, d}
void decode_pack(StatementDecoder& d, Type type) {
    const std::vector<Operand>& elements = d.operand(1).elements;
    const unsigned bits = bits_of(type);
    if (elements.size() != 2 && (elements.size() != 4 || bits != 64)) d.fail_form();
    const Type part = bits / elements.size() == 32 ? Type::b32 : Type::b16;
    std::vector<std::uint32_t> parts;
    for (const Operand& o : elements) parts.push_back(d.source(o, part));
    const Handler pack = bits == 64 ? (parts.size() == 2 ? pack_32 : pack_4x16) : pack_16;
    Emission e = emission_of(std::move(parts));
    e.operation = Operation::pack;
    e.type = type;
    d.emit_value(pack, d.destination(d.operand(0)), bits, std::move(e));
}

// mov {d, e}, a
void decode_unpack(StatementDecoder& d, Type type) {
    const std::vector<Operand>& elements = d.operand(0).elements;
    if (elements.size() != 2) d.fail_form();
    Emission e =
        emission_of({d.destination(elements[0]), d.destination(elements[1]), d.source(1, type)});
    e.full = bits_of(type) == 64 ? unpack_32 : unpack_16;
    e.operation = Operation::unpack;
    e.type = type;
    d.emit(std::move(e));
}

}  // namespace

void decode_move(StatementDecoder& d) {
    const Type type = d.type();
    const Operand &to = d.operand(0), &from = d.operand(1);
    if (type == Type::pred)
        return d.emit_predicate(predicate_move, d.destination(to),
                                emission_of({d.predicate_source(from)}));
    if (from.kind == Operand::special && special_named(from.name) == Special::none)
        return decode_clock(d, type);
    if (from.kind == Operand::vector) return decode_pack(d, type);
    if (to.kind == Operand::vector) return decode_unpack(d, type);
    d.emit_arithmetic({Operation::mov, type}, type, {d.destination(to), d.source(1, type)});
}

// cvta{.to}.space.type d, a: converts between a space and the generic one. Global and constant
// memory are at their own addresses in the generic space; shared and local memory and parameters
// are in windows.
void decode_convert_address(StatementDecoder& d) {
    const Space space = space_of(d.statement());
    if (bits_of(d.type()) != 64) d.fail("addresses have 64 bits");
    const std::uint32_t destination = d.destination(d.operand(0));
    const std::uint32_t a = d.source(1, Type::b64);
    const bool shared = space == Space::shared || space == Space::cluster;
    if (!shared && space != Space::local && space != Space::param)
        return d.emit_arithmetic({Operation::mov, Type::b64}, Type::b64, {destination, a});
    const std::uint32_t window = d.constant(shared                  ? shared_window
                                            : space == Space::local ? local_window
                                                                    : param_window);
    d.emit_arithmetic({d.has("to") ? Operation::sub : Operation::add, Type::u64}, Type::u64,
                      {destination, a, window});
}

// createpolicy.….b64 d, …: caches change no result, so that every policy is 0
void decode_cache_policy(StatementDecoder& d) {
    if (d.type() != Type::b64) d.fail_form();
    d.emit_arithmetic({Operation::mov, Type::b64}, Type::b64,
                      {d.destination(d.operand(0)), d.constant(0)});
}

// isspacep.space p, a
void decode_space_test(StatementDecoder& d) {
    const Handler handler = space_test(space_of(d.statement()));
    if (!handler) d.fail("isspacep has .shared, .local and .global");
    if (d.register_bits(d.operand(1)) != 64) d.fail("addresses have 64 bits");
    d.emit_predicate(handler, d.destination(d.operand(0)), emission_of({d.source(1, Type::b64)}));
}

namespace {

void read_rounding(const Statement& s, Conversion& c) {
    static constexpr std::pair<std::string_view, Rounding> roundings[] = {
        {"rn", Rounding::nearest},
        {"rz", Rounding::zero},
        {"rm", Rounding::down},
        {"rp", Rounding::up},
        {"rna", Rounding::nearest_away}};
    for (const auto& [name, rounding] : roundings) {
        if (s.has(name)) c.rounding = rounding;
        if (!s.has(std::string(name) + "i")) continue;
        c.rounding = rounding;
        c.to_integral = true;
    }
}

// Whether subnormal operands give zero, so that the CPU's flush mode makes no difference.
bool rounds_subnormals_to_zero(const Conversion& c) {
    return (c.to_integral || !is_float(c.to)) &&
           (c.rounding == Rounding::nearest || c.rounding == Rounding::zero);
}

// .b8 to .b64 convert as .u8 to .u64.
Type number_type(Type type) {
    return type >= Type::b8 && type <= Type::b64
               ? Type(unsigned(type) - unsigned(Type::b8) + unsigned(Type::u8))
               : type;
}

}  // namespace

// cvt{.rounding}{.ftz}{.sat}{.relu}.dtype.atype d, a; cvt{.rounding}{.relu}.dtype.f32 d, a, b to a
// pair
void decode_convert(StatementDecoder& d) {
    Conversion c;
    read_rounding(d.statement(), c);
    c.saturate = d.has("sat");
    c.rectify = d.has("relu");
    c.to = number_type(d.type(0));
    c.from = number_type(d.type(1));
    if ((c.rounding == Rounding::nearest_away) > (c.to == Type::tf32) ||
        c.rectify > (is_half(c.to) || c.to == Type::tf32))
        d.fail_form();
    if (is_float(c.from) && !rounds_subnormals_to_zero(c)) d.float_mode.subnormals = d.subnormals();
    if (is_pair(c.to) || d.statement().operands.size() == 3) {
        Emission e = emission_of({d.source(1, c.from), d.source(2, c.from)});
        e.detail = encode_rounding(c);
        return d.emit_value(pair_conversion(c), d.destination(d.operand(0)), 32, std::move(e));
    }
    const unsigned to_bits = bits_of(c.to), from_bits = bits_of(c.from);
    const bool integers = !is_float(c.to) && !is_float(c.from);
    // Fails for a wide register, whose upper half would keep its value: compilers write none.
    if (to_bits < 64 && d.register_bits(d.operand(0)) == 64) d.fail("the register is too wide");
    const std::uint32_t destination = d.destination(d.operand(0));
    std::uint32_t a = d.source(d.operand(1), c.from);
    if (d.register_bits(d.operand(1)) == 64 && from_bits < 64 && !is_uniform(a)) {
        // Handlers step through a register by the width of the type: its low half gets a slot.
        const std::uint32_t low = d.state().slots.vector(32);
        Emission e = emission_of({a});
        e.operation = Operation::cvt;
        e.type = Type::u32;
        e.second_type = Type::u64;
        d.emit_value(simd_conversion_handler({Type::u32, Type::u64}, {}), low, 32, std::move(e));
        a = low;
    }
    // A 16-bit register is the low half of a 32-bit slot. Its readers ignore the upper half.
    const bool narrows = integers && to_bits == 16 && from_bits == 32 && !c.saturate &&
                         d.register_bits(d.operand(0)) == 16;
    const OperandKinds kinds = kinds_of({destination, a});
    Emission e = emission_of({a});
    e.detail = encode_rounding(c);
    d.emit_value(narrows ? move_handler(32, kinds) : conversion_handler(c, kinds), destination,
                 std::max(32u, to_bits), std::move(e));
}

}  // namespace warpscope::emulator
