#include <fmt/format.h>

#include <algorithm>

#include "emulator/decode/statement_decoder.h"

// Matrices in the registers of a warp: PTX ISA 9.7.14. decode_memory.cpp decodes ldmatrix and
// stmatrix.
namespace warpscope::emulator {

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

// mma.sync.aligned.shape.row.col{.satfinite}.dtype.atype.btype.ctype d, a, b, c
void decode_matrix_product(StatementDecoder& d) {
    const ProductTypes types{d.type(1), d.type(2), d.type(3)};
    Emission e;
    e.full = matrix_product(types);
    if (!e.full || d.type(0) != types.c) d.fail_form();
    const ProductShape shape = shape_of(d, types.a);
    e.detail = shape.encoded();
    e.immediate = d.has("satfinite");
    e.cost_point = true;
    std::vector<std::uint32_t>& operands = d.state().kernel->matrix_operands;
    e.target = std::uint32_t(operands.size());
    const unsigned counts[] = {shape.c(types.c), shape.a(types.a), shape.b(types.b),
                               shape.c(types.c)};
    for (unsigned k = 0; k < 4; ++k) {
        const std::vector<Operand> registers = elements_of(d.operand(k));
        if (registers.size() != counts[k])
            d.fail(fmt::format("a matrix has {} registers where {} are needed", registers.size(),
                               counts[k]));
        const bool is_sum = k == 0 || k == 3;
        const Type type = bits_of(types.a) == 64                             ? Type::f64
                          : is_sum && is_float(types.c) && !is_half(types.c) ? types.c
                                                                             : Type::b32;
        for (const Operand& o : registers) {
            d.check_width(o, type);
            operands.push_back(k == 0 ? d.destination(o) : d.source(o, type));
        }
    }
    d.emit(std::move(e));
}

}  // namespace warpscope::emulator
