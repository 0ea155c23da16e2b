#include <string_view>
#include <utility>

#include "emulator/decode/statement_decoder.h"
#include "emulator/handlers/lane_operations.h"

// Textures and surfaces by handle: PTX ISA 9.7.10 and 9.7.11.
namespace warpscope::emulator {

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
