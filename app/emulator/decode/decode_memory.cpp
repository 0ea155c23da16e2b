#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

#include "emulator/decode/statement_decoder.h"
#include "emulator/handlers/lane_operations.h"

// Textures and surfaces by handle: PTX ISA 9.7.10 and 9.7.11.

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

namespace {

TextureGeometry geometry_of(const StatementDecoder& d) {
    constexpr std::pair<std::string_view, TextureGeometry> names[] = {
        {"1d", TextureGeometry::line},    {"2d", TextureGeometry::plane},
        {"3d", TextureGeometry::volume},  {"a1d", TextureGeometry::lines},
        {"a2d", TextureGeometry::planes}, {"cube", TextureGeometry::cube}};
    for (const auto& [name, geometry] : names)
        if (d.has(name)) return geometry;
    d.fail("layers of cubes and samples of a texture are not emulated");
}

/// A slot of 64 bits for two numbers of 32 bits.
std::uint32_t packed(StatementDecoder& d, std::uint32_t low, std::uint32_t high) {
    const std::uint32_t both = d.state().slots.vector(64);
    Emission pack = emission_of({both, low, high});
    pack.full = pack_32;
    pack.operation = Operation::pack;
    pack.type = Type::b64;
    d.emit_inserted(std::move(pack));
    return both;
}

std::uint32_t low_half(StatementDecoder& d, std::uint32_t whole) {
    const std::uint32_t low = d.state().slots.vector(32);
    Emission unpack = emission_of({low, 0, whole});
    unpack.full = unpack_32;
    unpack.operation = Operation::unpack;
    unpack.type = Type::b64;
    d.emit_inserted(std::move(unpack));
    return low;
}

/// The slots of the handle and of the coordinates in [handle, {x, y, z}]. An instruction has six
/// operands, so two coordinates share one, and a third one shares that of the handle, which is a
/// small number.
std::pair<std::uint32_t, std::uint32_t> read_place(StatementDecoder& d, const Operand& at,
                                                   const TextureForm& form, Type type) {
    if (at.kind != Operand::address || at.elements.size() != 2)
        d.fail("a texture or surface has a handle and coordinates in brackets");
    if (at.elements[0].kind != Operand::register_ || d.register_bits(at.elements[0]) != 64)
        d.fail("texture references are not emulated: use a texture object");
    const std::uint32_t handle = d.source(at.elements[0], Type::b64);
    const std::vector<Operand> numbers = elements_of(at.elements[1]);
    const unsigned count = form.coordinates();
    if (numbers.size() < count) d.fail("a coordinate is missing");
    std::vector<std::uint32_t> slots;
    for (unsigned i = 0; i < count; ++i)
        slots.push_back(d.source(numbers[i], i == 0 && form.has_layers() ? Type::b32 : type));
    if (count == 1) return {handle, slots[0]};
    const std::uint32_t both = packed(d, slots[0], slots[1]);
    if (count == 2) return {handle, both};
    return {packed(d, low_half(d, handle), slots[2]), both};
}

TextureForm surface_form(const StatementDecoder& d) {
    TextureForm form;
    form.geometry = geometry_of(d);
    form.elements = d.has("v4") ? 4 : d.has("v2") ? 2 : 1;
    form.bytes = bytes_of(d.type());
    form.outside = d.has("zero")    ? TextureForm::Outside::zero
                   : d.has("clamp") ? TextureForm::Outside::clamp
                                    : TextureForm::Outside::trap;
    return form;
}

/// `handle`: the operand with the handle. `bytes`: what a lane accesses, at least.
Emission texture_emission(Handler handler, const TextureForm& form, MemoryAccess access,
                          std::vector<std::uint32_t> operands, std::size_t handle, unsigned bytes) {
    Emission e = emission_of(std::move(operands));
    e.access = access;
    e.space = Space::global;
    e.address_operand = std::uint8_t(handle);
    e.bytes = std::uint8_t(bytes);
    e.full = e.masked = handler;
    e.target = form.encoded();
    e.cost_point = true;
    return e;
}

}  // namespace

// tex{.level}.geom.v4.dtype.ctype {d, e, f, g}, [handle, {x, y}]{, level}
void decode_texture(StatementDecoder& d) {
    const std::vector<Operand> into = elements_of(d.operand(0));
    if (into.size() != 4) d.fail("a texture fetch has four results");
    TextureForm form;
    form.geometry = geometry_of(d);
    form.integer_coordinates = !is_float(d.type(1));
    form.bytes = 4;
    if (bits_of(d.type()) != 32) d.fail("a texture fetch gives numbers of 32 bits");
    const auto [handle, place] = read_place(d, d.operand(1), form, d.type(1));
    std::vector<std::uint32_t> operands;
    for (const Operand& o : into) operands.push_back(d.destination(o));
    operands.insert(operands.end(), {handle, place});
    // The elements of a texture may be as small as a byte: only the launch tells.
    Emission e =
        texture_emission(fetch_texture, form, MemoryAccess::load, std::move(operands), 4, 1);
    e.detail = 4;
    d.emit(std::move(e));
}

// suld.b.geom{.vec}.type.clamp d, [handle, {x, y}]
void decode_surface_load(StatementDecoder& d) {
    const TextureForm form = surface_form(d);
    const std::vector<Operand> into = elements_of(d.operand(0));
    if (into.size() != form.elements) d.fail("as many registers as elements are needed");
    const auto [handle, place] = read_place(d, d.operand(1), form, Type::b32);
    std::vector<std::uint32_t> operands;
    for (const Operand& o : into) operands.push_back(d.destination(o));
    for (const Operand& o : into) d.check_width(o, d.type());
    operands.insert(operands.end(), {handle, place});
    Emission e = texture_emission(load_surface, form, MemoryAccess::load, std::move(operands),
                                  form.elements, form.bytes * form.elements);
    e.detail = std::uint16_t(form.elements);
    d.emit(std::move(e));
}

// sust.b.geom{.vec}.type.clamp [handle, {x, y}], a
void decode_surface_store(StatementDecoder& d) {
    const TextureForm form = surface_form(d);
    const std::vector<Operand> from = elements_of(d.operand(1));
    if (from.size() != form.elements) d.fail("as many registers as elements are needed");
    const auto [handle, place] = read_place(d, d.operand(0), form, Type::b32);
    std::vector<std::uint32_t> operands = {handle, place};
    for (const Operand& o : from) operands.push_back(d.source(o, d.type()));
    d.emit(texture_emission(store_surface, form, MemoryAccess::store, std::move(operands), 0,
                            form.bytes * form.elements));
}

}  // namespace warpscope::emulator
