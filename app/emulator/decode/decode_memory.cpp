#include <fmt/format.h>

#include "emulator/decode/decoder.h"

namespace warpscope::emulator {

bool Decoder::decode_memory(const Statement& s) {
    if (s.opcode == "ld" || s.opcode == "ldu")
        decode_load(s);
    else if (s.opcode == "st")
        decode_store(s);
    else if (s.opcode == "atom" || s.opcode == "red")
        decode_atomic(s);
    else
        return false;
    return true;
}

Space Decoder::take_space(Modifiers& m) {
    if (m.take("global")) return Space::global;
    if (m.take("shared") || m.take("shared::cta")) return Space::shared;
    if (m.take("local")) return Space::local;
    if (m.take("const")) return Space::constant;
    if (m.take("param")) return Space::param;
    return Space::generic;
}

// Cache operators, scopes and orders: memory is coherent and in order here.
void Decoder::take_cache_hints(Modifiers& m) {
    for (const char* hint : {"weak",
                             "volatile",
                             "relaxed",
                             "acquire",
                             "release",
                             "acq_rel",
                             "mmio",
                             "cta",
                             "cluster",
                             "gpu",
                             "sys",
                             "ca",
                             "cg",
                             "cs",
                             "lu",
                             "cv",
                             "wb",
                             "wt",
                             "nc",
                             "L1::evict_normal",
                             "L1::evict_unchanged",
                             "L1::evict_first",
                             "L1::evict_last",
                             "L1::no_allocate",
                             "L2::64B",
                             "L2::128B",
                             "L2::256B"})
        m.take(hint);
}

Decoder::Address Decoder::address(const Operand& o, Space& space) {
    if (o.kind != Operand::address) fail("the address is not in brackets");
    if (o.elements.size() > 1) fail("an address is one value");
    Address found;
    found.offset = o.value;
    if (o.elements.empty()) {
        found.operand = file_.constant(0);
        found.wide = true;
    } else if (o.elements[0].kind == Operand::symbol) {
        const Symbol s = symbol(o.elements[0]);
        if (space == Space::generic) space = s.space;
        found.operand = file_.constant(s.address);
        found.wide = true;
    } else if (o.elements[0].kind == Operand::register_) {
        found.wide = register_bits(o.elements[0]) == 64;
        found.operand = source(o.elements[0], found.wide ? Type::b64 : Type::b32);
    } else {
        fail("this operand can't be an address");
    }
    found.uniform = found.operand & 1;
    if (space == Space::shared) kernel_->uses_shared = true;
    if (space == Space::generic) kernel_->uses_shared = true;
    return found;
}

namespace {
std::vector<Operand> elements_of(const Operand& o) {
    return o.kind == Operand::vector ? o.elements : std::vector<Operand>{o};
}
}  // namespace

void Decoder::decode_load(const Statement& s) {
    Modifiers m(s);
    MemoryShape shape;
    shape.space = take_space(m);
    take_cache_hints(m);
    shape.elements = m.take("v2") ? 2 : m.take("v4") ? 4 : 1;
    const auto type = m.take_type();
    if (!type || bits_of(*type) < 8) fail("a load needs a type");
    shape.type = *type;
    finish(m);
    expect_operands(s, 2);
    const std::vector<Operand> into = elements_of(s.operands[0]);
    if (into.size() != shape.elements) fail("as many registers as elements are needed");
    const Address at = address(s.operands[1], shape.space);
    shape.uniform_address = at.uniform;
    shape.wide_address = at.wide;
    Emission e;
    shape.uniform_result = true;
    for (const Operand& o : into) {
        e.operands.push_back(destination(o));
        if (o.kind == Operand::sink) continue;
        shape.uniform_result &= e.operands.back() & 1;
        shape.wide_register |= register_bits(o) == 64;
    }
    for (const Operand& o : into) check_width(o, shape.wide_register ? Type::b64 : *type);
    bool sinks = false;
    for (std::uint32_t operand : e.operands) sinks |= operand == 0;
    e.operands.push_back(at.operand);
    e.detail = e.address_operand = std::uint8_t(shape.elements);
    e.immediate = at.offset;
    e.target = encode_access(shape);
    e.full = sinks ? nullptr : memory_handler(shape);
    e.masked = any_load;
    if (!e.full) e.full = any_load;
    // What is uniform is loaded once whatever the mask.
    if (shape.uniform_result && !sinks) e.masked = e.full;
    e.checkpoint = true;
    e.access = MemoryAccess::load;
    e.space = shape.space;
    e.bytes = std::uint8_t(bytes_of(shape.type) * shape.elements);
    emit(e);
}

void Decoder::decode_store(const Statement& s) {
    Modifiers m(s);
    MemoryShape shape;
    shape.store = true;
    shape.space = take_space(m);
    take_cache_hints(m);
    shape.elements = m.take("v2") ? 2 : m.take("v4") ? 4 : 1;
    const auto type = m.take_type();
    if (!type || bits_of(*type) < 8) fail("a store needs a type");
    shape.type = *type;
    finish(m);
    expect_operands(s, 2);
    if (shape.space == Space::constant || shape.space == Space::param) fail("can't store there");
    const std::vector<Operand> from = elements_of(s.operands[1]);
    if (from.size() != shape.elements) fail("as many registers as elements are needed");
    const Address at = address(s.operands[0], shape.space);
    shape.uniform_address = at.uniform;
    shape.wide_address = at.wide;
    Emission e;
    e.operands = {at.operand};
    shape.wide_register = bits_of(shape.type) == 64;
    for (const Operand& o : from) {
        e.operands.push_back(source(o, shape.type));
        if (bits_of(shape.type) < 64 && register_bits(o) == 64) shape.wide_register = true;
    }
    for (const Operand& o : from) check_width(o, shape.wide_register ? Type::b64 : *type);
    e.immediate = at.offset;
    e.target = encode_access(shape);
    e.full = memory_handler(shape);
    e.masked = any_store;
    if (!e.full) e.full = any_store;
    e.checkpoint = true;
    e.access = MemoryAccess::store;
    e.space = shape.space;
    e.bytes = std::uint8_t(bytes_of(shape.type) * shape.elements);
    emit(e);
}

// atom{.sem}{.scope}{.space}.op.type d, [a], b{, c}; red the same without d.
void Decoder::decode_atomic(const Statement& s) {
    Modifiers m(s);
    MemoryShape shape;
    shape.space = take_space(m);
    take_cache_hints(m);
    const auto type = m.take_type();
    m.take("noftz");  // sums of halves keep subnormals
    if (!type || m.left().size() != 1) fail("unknown form of an atomic");
    shape.type = *type;
    static constexpr std::pair<std::string_view, AtomicOp> operations[] = {
        {"add", AtomicOp::add},   {"min", AtomicOp::min},  {"max", AtomicOp::max},
        {"exch", AtomicOp::exch}, {"cas", AtomicOp::cas},  {"and", AtomicOp::and_},
        {"or", AtomicOp::or_},    {"xor", AtomicOp::xor_}, {"inc", AtomicOp::inc},
        {"dec", AtomicOp::dec}};
    Emission e;
    AtomicOp op = AtomicOp::add;
    for (const auto& [name, operation] : operations)
        if (m.left()[0] == name) {
            op = operation;
            e.full = atomic_handler(op, *type);
        }
    if (!e.full) fail("unknown form of an atomic");
    const size_t first = s.opcode == "atom" ? 1 : 0;
    expect_operands(s, first + (op == AtomicOp::cas ? 3 : 2));
    const Address at = address(s.operands[first], shape.space);
    shape.wide_address = at.wide;
    // nvcc writes atom where red would do: an old value that nobody reads tells no order.
    const bool returns =
        first && s.operands[0].kind == Operand::register_ && read_[size_t(s.operands[0].index)];
    if (returns) check_width(s.operands[0], *type);
    const std::uint32_t d = returns ? destination(s.operands[0]) : 0;
    e.operands = {d, at.operand, source(s.operands[first + 1], *type)};
    if (op == AtomicOp::cas) e.operands.push_back(source(s.operands[first + 2], *type));
    e.detail = e.address_operand = 1;
    e.immediate = at.offset;
    e.target = encode_access(shape);
    e.checkpoint = true;
    e.access = MemoryAccess::atomic;
    e.space = shape.space;
    e.bytes = std::uint8_t(bytes_of(*type));
    // Old values, exchanges and float sums depend on which block comes first.
    if (shape.space != Space::shared)
        kernel_->order_dependent |= d != 0 || is_float(*type) || op == AtomicOp::exch ||
                                    op == AtomicOp::cas || op == AtomicOp::inc ||
                                    op == AtomicOp::dec;
    emit(e);
}

}  // namespace warpscope::emulator
