#include <fmt/format.h>

#include <algorithm>

#include "emulator/decode/statement_decoder.h"
#include "emulator/warp/matrices.h"

// Matrices in the registers of a warp: PTX ISA 9.7.14.
namespace warpscope::emulator {

namespace {

// Returns the emission of ldmatrix and stmatrix. `values`: the registers, one for each matrix.
Emission matrix_emission(StatementDecoder& d, const Operand& address,
                         const std::vector<Operand>& values, MemoryAccess access) {
    MemoryForm form;
    form.space = space_of(d.statement());
    form.type = d.type();
    if (form.type != Type::b16) d.fail("the elements of a matrix have the type .b16");
    form.elements = d.has("x4") ? 4 : d.has("x2") ? 2 : 1;
    if (form.elements == 1 && !d.has("x1")) d.fail("the number of matrices is .x1, .x2 or .x4");
    if (values.size() != form.elements) d.fail("as many registers as matrices are needed");
    for (const Operand& o : values) d.check_width(o, Type::b32);
    const Address at = address_of(d, address, form.space);
    Emission e = access_emission(d, form, at, access);
    e.bytes = matrix_row_bytes;
    e.operands = {at.operand};
    AccessForm encoded = form.access_form();
    encoded.matrices = true;
    encoded.transposed = d.has("trans");
    e.target = encoded.encoded();
    return e;
}

}  // namespace

// ldmatrix.sync.aligned.m8n8.num{.trans}{.space}.b16 d, [a]
void decode_matrix_load(StatementDecoder& d) {
    const std::vector<Operand> into = elements_of(d.operand(0));
    Emission e = matrix_emission(d, d.operand(1), into, MemoryAccess::load);
    std::vector<std::uint32_t> results;
    for (const Operand& o : into) results.push_back(d.destination(o));
    e.operands.insert(e.operands.begin(), results.begin(), results.end());
    e.detail = e.address_operand = std::uint8_t(results.size());
    e.full = load_matrices;
    d.emit(std::move(e));
}

// stmatrix.sync.aligned.m8n8.num{.trans}{.space}.b16 [a], b
void decode_matrix_store(StatementDecoder& d) {
    const std::vector<Operand> from = elements_of(d.operand(1));
    Emission e = matrix_emission(d, d.operand(0), from, MemoryAccess::store);
    for (const Operand& o : from) e.operands.push_back(d.source(o, Type::b32));
    e.full = store_matrices;
    d.emit(std::move(e));
}

namespace {

// A fragment of wmma: the registers of each lane, and how many of them memory has.
struct Fragment {
    unsigned registers = 8, moved = 8;
    Type register_type = Type::b32;
    FragmentParts parts;
    std::uint64_t line =
        16;  // elements between the beginnings of two lines, unless the statement says it
};

Fragment fragment_of(const StatementDecoder& d, bool is_sum) {
    const Type type = d.type();
    const bool is_double = type == Type::f64, is_row = d.has("row");
    const unsigned bits = bits_of(type), side = is_double ? 8 : 16;
    const unsigned k = is_double ? 4 : type == Type::tf32 || d.has("m16n16k8") ? 8 : 16;
    const bool known =
        is_double ||
        (is_sum ? type == Type::f16 || type == Type::f32 || type == Type::s32
                : type == Type::f16 || type == Type::bf16 || type == Type::tf32 || bits == 8);
    const bool has_shape = is_double ? d.has("m8n8k4") : d.has("m16n16k16") || d.has("m16n16k8");
    if (!known || !has_shape) d.fail("the emulator does not execute this form of wmma");
    const unsigned elements = side * (is_sum ? side : k) / lanes_per_warp;
    Fragment f;
    if (is_double) f.register_type = Type::b64;
    f.line = is_sum || is_row == d.has("b") ? side : k;
    f.parts.by_column = is_sum && !is_row;
    f.moved = elements * bits / bits_of(f.register_type);
    f.registers = type == Type::f16 && !is_sum ? 8 : f.moved;
    f.parts.parts = unsigned(f.line) / elements;
    f.parts.element_bytes = bits / 8;
    f.parts.part_bytes = elements * bits / 8;
    return f;
}

// Emits what finds the places of the lanes' elements, from FragmentParts::element on.
Address emit_places(StatementDecoder& d, const FragmentParts& parts, const Address& address,
                    std::uint32_t stride) {
    Address places;
    places.operand = d.state().slots.vector(64);
    places.wide = true;
    Emission e = emission_of({places.operand, address.operand, stride});
    e.full = find_fragment_parts;
    e.immediate = address.offset;
    e.target = parts.encoded();
    e.operation = Operation::fragment_parts;
    d.emit_inserted(std::move(e));
    return places;
}

// Emits a load into slots, or a store of them.
void emit_part(StatementDecoder& d, MemoryForm form, const Address& at, MemoryAccess access,
               const std::vector<std::uint32_t>& values) {
    Emission e = access_emission(d, form, at, access);
    e.operands = values;
    e.operands.insert(form.store ? e.operands.begin() : e.operands.end(), at.operand);
    e.detail = e.address_operand = form.store ? 0 : std::uint8_t(form.elements);
    e.target = form.access_form().encoded();
    e.full = form.store ? any_store : any_load;
    e.operation = form.store ? Operation::st : Operation::ld;
    e.type = form.type;
    d.emitter().begin(d.statement());  // observers are told of each access
    d.emit(std::move(e));
}

// Each lane moves up to 16 bytes at a time.
void emit_rows(StatementDecoder& d, const Fragment& f, MemoryForm form, const Address& address,
               std::uint32_t stride, const std::vector<std::uint32_t>& values,
               MemoryAccess access) {
    form.elements = std::min(128 / bits_of(form.type), f.moved);
    Address at = emit_places(d, f.parts, address, stride);
    for (unsigned first = 0; first < f.moved; first += form.elements, at.offset += 16) {
        const auto begin = values.begin() + first;
        emit_part(d, form, at, access, {begin, begin + form.elements});
    }
}

// Each lane moves one element at a time. A register holds two of 16 bits.
void emit_columns(StatementDecoder& d, const Fragment& f, MemoryForm form, const Address& address,
                  std::uint32_t stride, const std::vector<std::uint32_t>& values,
                  MemoryAccess access) {
    FragmentParts parts = f.parts;
    const auto move = [&](std::uint32_t slot) {
        emit_part(d, form, emit_places(d, parts, address, stride), access, {slot});
        ++parts.element;
    };
    const bool are_halves = parts.element_bytes == 2;
    if (are_halves) form.type = Type::b16;
    const std::uint32_t other = d.state().slots.vector(32), half = d.constant(16);
    for (unsigned k = 0; k < f.moved; ++k) {
        move(values[k]);
        if (!are_halves) continue;
        if (form.store)
            d.emit_arithmetic({Operation::shr, Type::u32}, Type::b32, {other, values[k], half});
        move(other);
        if (form.store) continue;
        d.emit_arithmetic({Operation::shl, Type::b32}, Type::b32, {other, other, half});
        d.emit_arithmetic({Operation::or_, Type::b32}, Type::b32, {values[k], values[k], other});
    }
}

// Emits the loads or stores of a fragment.
void emit_fragment(StatementDecoder& d, Fragment f, const Operand& operand,
                   const std::vector<Operand>& registers, MemoryAccess access) {
    if (registers.size() != f.registers)
        d.fail(fmt::format("a matrix has {} registers where {} are needed", registers.size(),
                           f.registers));
    MemoryForm form;
    form.space = space_of(d.statement());
    form.type = f.register_type;
    form.wide_register = bits_of(form.type) == 64;
    form.store = access == MemoryAccess::store;
    const Address address = address_of(d, operand, form.space);
    f.parts.wide_address = address.wide;
    const std::uint32_t stride =
        d.statement().operands.size() > 2 ? d.source(2, Type::b32) : d.constant(f.line);
    std::vector<std::uint32_t> values;
    for (unsigned k = 0; k < f.moved; ++k) {
        d.check_width(registers[k], form.type);
        values.push_back(form.store ? d.source(registers[k], form.type)
                                    : d.destination(registers[k]));
    }
    (f.parts.by_column ? emit_columns : emit_rows)(d, f, form, address, stride, values, access);
}

}  // namespace

// wmma.load.a.sync.aligned.layout.shape{.space}.type d, [a]{, stride};
// wmma.load.b and wmma.load.c have this form too
void decode_fragment_load(StatementDecoder& d) {
    const Fragment f = fragment_of(d, d.has("c"));
    const std::vector<Operand> into = elements_of(d.operand(0));
    emit_fragment(d, f, d.operand(1), into, MemoryAccess::load);
    // Each element of f16 lies in two registers.
    for (unsigned k = f.moved; k < f.registers; ++k)
        d.emit_arithmetic({Operation::mov, Type::b32}, Type::b32,
                          {d.destination(into[k]), d.destination(into[k - f.moved])});
}

// wmma.store.d.sync.aligned.layout.shape{.space}.type [a], b{, stride}
void decode_fragment_store(StatementDecoder& d) {
    emit_fragment(d, fragment_of(d, true), d.operand(0), elements_of(d.operand(1)),
                  MemoryAccess::store);
}

namespace {

struct ShapeRow {
    const char* name;
    ProductShape shape;
    std::initializer_list<Type> types;  // of a
};

const ShapeRow shapes[] = {
    {"m8n8k4", {8, 4}, {Type::f64}},
    {"m8n8k16", {8, 16}, {Type::s8, Type::u8}},
    {"m16n8k4", {16, 4}, {Type::tf32, Type::f64}},
    {"m16n8k8", {16, 8}, {Type::f16, Type::bf16, Type::tf32, Type::f64}},
    {"m16n8k16", {16, 16}, {Type::f16, Type::bf16, Type::s8, Type::u8, Type::f64}},
    {"m16n8k32", {16, 32}, {Type::s8, Type::u8}}};

ProductShape shape_of(const StatementDecoder& d, Type a) {
    for (const ShapeRow& row : shapes)
        if (d.has(row.name) && std::find(row.types.begin(), row.types.end(), a) != row.types.end())
            return row.shape;
    d.fail("the emulator does not execute products of matrices of this shape and type");
}

}  // namespace

// movmatrix.sync.aligned.m8n8.trans.b16 d, a
void decode_matrix_move(StatementDecoder& d) {
    if (d.type() != Type::b16) d.fail("the elements of a matrix have the type .b16");
    d.check_width(d.operand(0), Type::b32);
    Emission e = emission_of({d.destination(d.operand(0)), d.source(1, Type::b32)});
    e.full = transpose_matrix;
    e.cost_point = true;
    d.emit(std::move(e));
}

namespace {

// Emits a product with the registers of its operands d, a, b and c, of which there are `counts`.
void emit_product(StatementDecoder& d, Emission e, const ProductTypes& types,
                  std::initializer_list<unsigned> counts) {
    e.immediate = d.has("satfinite");
    e.cost_point = true;
    std::vector<std::uint32_t>& operands = d.state().kernel->further_operands;
    e.target = std::uint32_t(operands.size());
    std::size_t k = 0;
    for (const unsigned count : counts) {
        const std::vector<Operand> registers = elements_of(d.operand(k));
        if (registers.size() != count)
            d.fail(fmt::format("a matrix has {} registers where {} are needed", registers.size(),
                               count));
        const bool is_sum = k == 0 || k == 3;
        const Type type = is_sum && bits_of(types.c) >= 32 && is_float(types.c) ? types.c
                          : bits_of(types.a) == 64                              ? Type::f64
                                                                                : Type::b32;
        for (const Operand& o : registers) {
            d.check_width(o, type);
            operands.push_back(k == 0 ? d.destination(o) : d.source(o, type));
        }
        ++k;
    }
    d.emit(std::move(e));
}

}  // namespace

// mma.sync.aligned.shape.row.col{.satfinite}.dtype.atype.btype.ctype d, a, b, c
void decode_matrix_product(StatementDecoder& d) {
    const ProductTypes types{d.type(1), d.type(2), d.type(3)};
    Emission e;
    e.full = matrix_product(types);
    if (!e.full || d.type(0) != types.c) d.fail_form();
    const ProductShape shape = shape_of(d, types.a);
    e.detail = shape.encoded();
    emit_product(d, std::move(e), types,
                 {shape.c(types.c), shape.a(types.a), shape.b(types.b), shape.c(types.c)});
}

// wmma.mma.sync.aligned.alayout.blayout.shape{.satfinite}.dtype{.atype.btype}.ctype d, a, b, c:
// without the types of a and b, these are .f16
void decode_fragment_product(StatementDecoder& d) {
    std::vector<bool> layouts;
    for (const std::string& m : d.statement().modifiers)
        if (m == "row" || m == "col") layouts.push_back(m == "row");
    if (layouts.size() != 2) d.fail("a and b need a layout: .row or .col");
    const bool halves = d.types().size() == 2;
    const ProductTypes types = halves ? ProductTypes{Type::f16, Type::f16, d.type(1)}
                                      : ProductTypes{d.type(1), d.type(2), d.type(3)};
    Emission e;
    e.full = fragment_product(types);
    FragmentProduct form;
    form.k = types.a == Type::f64 ? 4 : types.a == Type::tf32 ? 8 : 16;
    form.a_is_row = layouts[0];
    form.b_is_row = layouts[1];
    const char* const shape = form.k == 4 ? "m8n8k4" : form.k == 8 ? "m16n16k8" : "m16n16k16";
    if (!e.full || d.type(0) != types.c || !d.has(shape))
        d.fail("the emulator does not execute this form of wmma");
    e.detail = form.encoded();
    const unsigned factor = types.a == Type::f16    ? 8
                            : types.a == Type::f64  ? 1
                            : bits_of(types.a) == 8 ? 2
                                                    : 4;
    const unsigned sum = types.c == Type::f64 ? 2 : types.c == Type::f16 ? 4 : 8;
    emit_product(d, std::move(e), types, {sum, factor, factor, sum});
}

}  // namespace warpscope::emulator
