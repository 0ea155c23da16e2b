#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "emulator/decode/statement_decoder.h"

namespace warpscope::emulator {

Space space_of(const Statement& s) {
    if (s.has("global")) return Space::global;
    if (s.has("shared") || s.has("shared::cta")) return Space::shared;
    if (s.has("shared::cluster")) return Space::cluster;
    if (s.has("local")) return Space::local;
    if (s.has("const")) return Space::constant;
    if (s.has("param")) return Space::param;
    return Space::generic;
}

Scope scope_of(const Statement& s) {
    if (s.has("cta")) return Scope::block;
    return s.has("cluster") ? Scope::cluster : Scope::device;
}

Address address_of(StatementDecoder& d, const Operand& o, Space& space) {
    if (o.kind != Operand::address) d.fail("the address is not in brackets");
    if (o.elements.size() > 1) d.fail("an address is one value");
    Address found;
    found.offset = o.value;
    found.wide = true;
    found.base = base_of_address(d.state(), o);
    if (o.elements.empty()) {
        found.operand = d.constant(0);
    } else if (o.elements[0].kind == Operand::symbol) {
        const Symbol s = d.symbol(o.elements[0]);
        if (space == Space::generic) space = s.space;
        found.operand = d.constant(s.address);
    } else if (o.elements[0].kind == Operand::register_) {
        found.wide = d.register_bits(o.elements[0]) == 64;
        found.operand = d.source(o.elements[0], found.wide ? Type::b64 : Type::b32);
    } else {
        d.fail("this operand is not an address");
    }
    if (space == Space::shared || space == Space::generic || space == Space::cluster)
        d.state().kernel->uses_shared = true;
    return found;
}

namespace {

Address writable_address(StatementDecoder& d, const Operand& o, Space& space) {
    const Address found = address_of(d, o, space);
    if (space == Space::constant || space == Space::param) d.fail("this space cannot be written");
    return found;
}

bool has_cache_policy(const StatementDecoder& d) {
    return d.has("L2::cache_hint");
}

// Fails unless the statement has `count` operands, or one more that is its cache policy.
void expect_operands(const StatementDecoder& d, std::size_t count, const char* what) {
    if (d.statement().operands.size() != count + has_cache_policy(d)) d.fail(what);
}

MemoryForm memory_form(const StatementDecoder& d) {
    MemoryForm form;
    form.space = space_of(d.statement());
    form.elements = d.has("v2") ? 2 : d.has("v4") ? 4 : 1;
    form.type = d.type();
    if (bits_of(form.type) < 8) d.fail("a predicate is not in memory");
    return form;
}

MemoryOrder order_of(const StatementDecoder& d, MemoryAccess access) {
    if (d.has("acq_rel")) return MemoryOrder::acq_rel;
    if (d.has("acquire")) return MemoryOrder::acquire;
    if (d.has("release")) return MemoryOrder::release;
    if (d.has("relaxed") || d.has("mmio") || access == MemoryAccess::atomic)
        return MemoryOrder::relaxed;
    return d.has("volatile") ? MemoryOrder::volatile_ : MemoryOrder::weak;
}

}  // namespace

Emission access_emission(const StatementDecoder& d, MemoryForm& form, const Address& at,
                         MemoryAccess access) {
    Emission e;
    e.order = order_of(d, access);
    e.scope = scope_of(d.statement());
    e.base = std::int16_t(at.base);
    form.uniform_address = is_uniform(at.operand);
    form.wide_address = at.wide;
    e.immediate = at.offset;
    e.cost_point = true;
    e.access = access;
    e.space = form.space;
    e.bytes = std::uint8_t(bytes_of(form.type) * form.elements);
    return e;
}

// ld{.space}{.vec}.type d, [a]
void decode_load(StatementDecoder& d) {
    expect_operands(d, 2, "only .L2::cache_hint has a policy behind the address");
    MemoryForm form = memory_form(d);
    const std::vector<Operand> into = elements_of(d.operand(0));
    if (into.size() != form.elements) d.fail("as many registers as elements are needed");
    const Address at = address_of(d, d.operand(1), form.space);
    Emission e = access_emission(d, form, at, MemoryAccess::load);
    bool sinks = false;
    form.uniform_result = true;
    for (const Operand& o : into) {
        e.operands.push_back(d.destination(o));
        sinks |= o.kind == Operand::sink;
        if (o.kind == Operand::sink) continue;
        form.uniform_result &= is_uniform(e.operands.back());
        form.wide_register |= d.register_bits(o) == 64;
    }
    for (const Operand& o : into) d.check_width(o, form.wide_register ? Type::b64 : form.type);
    e.operands.push_back(at.operand);
    e.detail = e.address_operand = std::uint8_t(form.elements);
    e.target = form.access_form().encoded();
    const auto handler = [&](Instruction::Mode mode) {
        const Handler fast = sinks ? nullptr : memory_handler(form, mode);
        return fast ? fast : any_load;
    };
    e.full = handler(Instruction::full);
    // A uniform load needs no masked variant.
    e.masked = form.uniform_result && !sinks ? e.full : handler(Instruction::masked);
    d.emit(std::move(e));
}

// st{.space}{.vec}.type [a], b
void decode_store(StatementDecoder& d) {
    expect_operands(d, 2, "only .L2::cache_hint has a policy behind the value");
    MemoryForm form = memory_form(d);
    form.store = true;
    const std::vector<Operand> from = elements_of(d.operand(1));
    if (from.size() != form.elements) d.fail("as many registers as elements are needed");
    const Address at = writable_address(d, d.operand(0), form.space);
    Emission e = access_emission(d, form, at, MemoryAccess::store);
    e.operands = {at.operand};
    form.wide_register = bits_of(form.type) == 64;
    for (const Operand& o : from) {
        e.operands.push_back(d.source(o, form.type));
        if (d.register_bits(o) == 64) form.wide_register = true;
    }
    for (const Operand& o : from) d.check_width(o, form.wide_register ? Type::b64 : form.type);
    e.target = form.access_form().encoded();
    const auto handler = [&](Instruction::Mode mode) {
        const Handler fast = memory_handler(form, mode);
        return fast ? fast : any_store;
    };
    e.full = handler(Instruction::full);
    e.masked = handler(Instruction::masked);
    d.emit(std::move(e));
}

namespace {

constexpr std::pair<std::string_view, AtomicOp> atomic_operations[] = {
    {"add", AtomicOp::add},   {"min", AtomicOp::min},  {"max", AtomicOp::max},
    {"exch", AtomicOp::exch}, {"cas", AtomicOp::cas},  {"and", AtomicOp::and_},
    {"or", AtomicOp::or_},    {"xor", AtomicOp::xor_}, {"inc", AtomicOp::inc},
    {"dec", AtomicOp::dec}};

}  // namespace

AtomicOp atomic_operation(const StatementDecoder& d) {
    for (const auto& [name, operation] : atomic_operations)
        if (d.has(name)) return operation;
    d.fail("unknown form of an atomic");
}

// Old values that are read, exchanges, counters and sums of floats depend on the order.
bool tells_order(AtomicOp op, Type type, bool returns) {
    switch (op) {
        case AtomicOp::exch:
        case AtomicOp::cas:
        case AtomicOp::inc:
        case AtomicOp::dec:
            return true;
        default:
            return returns || is_float(type);
    }
}

// atom{.sem}{.scope}{.space}.op.type d, [a], b{, c}; red has no d.
void decode_atomic(StatementDecoder& d) {
    const std::vector<Operand>& operands = d.statement().operands;
    MemoryForm form;
    form.space = space_of(d.statement());
    form.type = d.type();
    const AtomicOp op = atomic_operation(d);
    const std::size_t first = d.operation() == Operation::atom ? 1 : 0;
    expect_operands(d, first + (op == AtomicOp::cas ? 3 : 2),
                    op == AtomicOp::cas ? "a compare-and-swap has an address and two values"
                                        : "an atomic has an address and one value");
    const Address at = writable_address(d, operands[first], form.space);
    Emission e = access_emission(d, form, at, MemoryAccess::atomic);
    e.full = atomic_handler(op, form.type);
    if (!e.full) d.fail("unknown form of an atomic");
    // The old value is not kept if nothing reads it: nvcc writes atom where red would be enough.
    const bool returns = first && operands[0].kind == Operand::register_ &&
                         d.state().is_read[std::size_t(operands[0].index)];
    if (returns) d.check_width(operands[0], form.type);
    e.operands = {returns ? d.destination(operands[0]) : 0, at.operand,
                  d.source(operands[first + 1], form.type)};
    if (op == AtomicOp::cas) e.operands.push_back(d.source(operands[first + 2], form.type));
    e.detail = e.address_operand = 1;
    e.compares = op == AtomicOp::cas;
    e.target = form.access_form().encoded();
    if (form.space != Space::shared)
        d.state().kernel->order_dependent |= tells_order(op, form.type, e.operands[0] != 0);
    d.emit(std::move(e));
}

}  // namespace warpscope::emulator
