// Products of matrices by a warp (PTX ISA 9.7.14, "Warp Level Matrix Multiply-Accumulate
// Instructions").
#include <algorithm>

#include "emulator/handlers/matrix/matrix_model.h"
#include "emulator/warp/float_mode.h"
#include "emulator/warp/matrices.h"

namespace warpscope::emulator {

namespace {

using namespace matrix_model;

/// Lane l holds elements of row l / 4 of a, and of column l / 4 of b.
template <class A, class B>
void read_tiles(const Warp& w, const std::uint32_t* a, unsigned a_registers, const std::uint32_t* b,
                unsigned b_registers, bool two_row_blocks, Tiles<typename A::Value>& tiles) {
    constexpr unsigned elements = elements_in_register<typename A::Bits>;
    for_elements<typename A::Bits>(
        w, a, a_registers, [&](unsigned lane, unsigned r, unsigned e, typename A::Bits bits) {
            const unsigned row = lane / 4 + (two_row_blocks ? r % 2 * 8 : 0);
            const unsigned block = two_row_blocks ? r / 2 : r;
            tiles.a[row][(block * 4 + lane % 4) * elements + e] = A::value(bits);
        });
    for_elements<typename B::Bits>(
        w, b, b_registers, [&](unsigned lane, unsigned r, unsigned e, typename B::Bits bits) {
            tiles.b[(r * 4 + lane % 4) * elements + e][lane / 4] = B::value(bits);
        });
}

/// Where an element of c and d lies: lane l holds two neighbours of row l / 4, and of row l / 4
/// + 8.
MatrixPlace place_in_result(unsigned lane, unsigned r, unsigned element, bool is_packed) {
    if (is_packed) return {lane / 4 + 8 * r, lane % 4 * 2 + element};
    return {lane / 4 + 8 * (r / 2), lane % 4 * 2 + r % 2};
}

/// The operands of an instruction.
struct ProductOperands {
    ProductOperands(const Instruction* i, const Warp& w, Type a_type, Type c_type)
        : shape(i->detail),
          d(w.block->kernel->further_operands.data() + i->target),
          a(d + shape.c(c_type)),
          b(a + shape.a(a_type)),
          c(b + shape.b(a_type)) {}

    ProductShape shape;
    const std::uint32_t *d, *a, *b, *c;
};

/// Sets the elements of d to f(row, column); place(lane, register, element) is where one lies.
template <class Bits, class P, class F>
void write_elements(Warp& w, const std::uint32_t* operands, unsigned registers, P place, F f) {
    using Register = RegisterOf<Bits>;
    for (unsigned r = 0; r < registers; ++r) {
        if (!operands[r]) continue;  // the sink _
        for (unsigned lane = 0; lane < lanes_per_warp; ++lane) {
            if (!(w.mask >> lane & 1)) continue;
            Register held = 0;
            for (unsigned e = 0; e < elements_in_register<Bits>; ++e) {
                const MatrixPlace at = place(lane, r, e);
                held |= Register(Bits(f(at.row, at.column))) << 8 * sizeof(Bits) * e;
            }
            w.set(operands[r], lane, held);
        }
    }
}

template <class Bits, class F>
void write_result(Warp& w, const std::uint32_t* operands, unsigned registers, F f) {
    const auto place = [](unsigned lane, unsigned r, unsigned e) {
        return place_in_result(lane, r, e, sizeof(Bits) < 4);
    };
    write_elements<Bits>(w, operands, registers, place, f);
}

template <class Bits, class Value, class F>
void read_addend(const Warp& w, const std::uint32_t* operands, unsigned registers,
                 Value (*into)[columns], F value) {
    for_elements<Bits>(w, operands, registers,
                       [&](unsigned lane, unsigned r, unsigned e, Bits bits) {
                           const MatrixPlace at = place_in_result(lane, r, e, sizeof(Bits) < 4);
                           into[at.row][at.column] = value(bits);
                       });
}

template <class A, Type a_type, class C, Type c_type>
const Instruction* multiply_floats(const Instruction* i, Warp& w) {
    if (!w.has_all(w.threads)) return w.wait_for_members(i, w.threads);
    const FloatMode mode(false);
    const ProductOperands o(i, w, a_type, c_type);
    FloatTiles tiles;
    double c[most_rows][columns], sums[most_rows][columns];
    read_tiles<A, A>(w, o.a, o.shape.a(a_type), o.b, o.shape.b(a_type), o.shape.m == 16, tiles);
    read_addend<typename C::Bits>(w, o.c, o.shape.c(c_type), c,
                                  [](typename C::Bits bits) { return C::value(bits); });
    tiles.find_exponents(o.shape);
    const auto add = o.shape.k == 16  ? add_products<16>
                     : o.shape.k == 8 ? add_products<8>
                                      : add_products<4>;
    for (unsigned row = 0; row < o.shape.m; ++row) add(tiles, row, c[row], sums[row]);
    write_result<typename C::Bits>(w, o.d, o.shape.c(c_type), [&](unsigned row, unsigned column) {
        return C::bits(sums[row][column]);
    });
    return w.cost_point(i, i + 1);
}

/// Adds the products of `rows` rows of a and of b to the sums: a chain of fma for each.
void add_doubles(const Tiles<double>& tiles, unsigned rows, unsigned products,
                 double (*sums)[columns]) {
    for (unsigned row = 0; row < rows; ++row)
        for (unsigned n = 0; n < columns; ++n)
            for (unsigned k = 0; k < products; ++k)
                sums[row][n] = std::fma(tiles.a[row][k], tiles.b[k][n], sums[row][n]);
}

const Instruction* multiply_doubles(const Instruction* i, Warp& w) {
    if (!w.has_all(w.threads)) return w.wait_for_members(i, w.threads);
    const ProductOperands o(i, w, Type::f64, Type::f64);
    Tiles<double> tiles;
    double sums[most_rows][columns];
    read_tiles<Double, Double>(w, o.a, o.shape.a(Type::f64), o.b, o.shape.b(Type::f64),
                               o.shape.m == 16, tiles);
    read_addend<std::uint64_t>(w, o.c, o.shape.c(Type::f64), sums, Double::value);
    add_doubles(tiles, o.shape.m, o.shape.k, sums);
    write_result<std::uint64_t>(w, o.d, o.shape.c(Type::f64), [&](unsigned row, unsigned column) {
        return std::bit_cast<std::uint64_t>(sums[row][column]);
    });
    return w.cost_point(i, i + 1);
}

template <class A, class B>
const Instruction* multiply_bytes(const Instruction* i, Warp& w) {
    if (!w.has_all(w.threads)) return w.wait_for_members(i, w.threads);
    const ProductOperands o(i, w, Type::s8, Type::s32);
    Tiles<std::int32_t> tiles;
    std::int64_t sums[most_rows][columns];
    read_tiles<Byte<A>, Byte<B>>(w, o.a, o.shape.a(Type::s8), o.b, o.shape.b(Type::s8),
                                 o.shape.m == 16, tiles);
    read_addend<std::uint32_t>(w, o.c, o.shape.c(Type::s32), sums,
                               [](std::uint32_t bits) { return std::int32_t(bits); });
    for (unsigned row = 0; row < o.shape.m; ++row)
        for (unsigned k = 0; k < o.shape.k; ++k)
            for (unsigned n = 0; n < columns; ++n) sums[row][n] += tiles.a[row][k] * tiles.b[k][n];
    const bool clamps = i->immediate;
    write_result<std::uint32_t>(w, o.d, o.shape.c(Type::s32), [&](unsigned row, unsigned column) {
        const std::int64_t sum = sums[row][column];
        return std::uint32_t(clamps ? std::clamp<std::int64_t>(sum, INT32_MIN, INT32_MAX) : sum);
    });
    return w.cost_point(i, i + 1);
}

}  // namespace

Handler matrix_product(const ProductTypes& types) {
    const auto [a, b, c] = types;
    const bool sum_is_single = c == Type::f32;
    if (c == Type::s32 && a == Type::s8)
        return b == Type::s8   ? multiply_bytes<std::int8_t, std::int8_t>
               : b == Type::u8 ? multiply_bytes<std::int8_t, std::uint8_t>
                               : nullptr;
    if (c == Type::s32 && a == Type::u8)
        return b == Type::s8   ? multiply_bytes<std::uint8_t, std::int8_t>
               : b == Type::u8 ? multiply_bytes<std::uint8_t, std::uint8_t>
                               : nullptr;
    if (a != b) return nullptr;
    if (a == Type::f64 && c == Type::f64) return multiply_doubles;
    if (a == Type::f16 && c == Type::f16)
        return multiply_floats<Half16, Type::f16, HalfSum, Type::f16>;
    if (!sum_is_single) return nullptr;
    if (a == Type::f16) return multiply_floats<Half16, Type::f16, Single, Type::f32>;
    if (a == Type::bf16) return multiply_floats<Bfloat16, Type::bf16, Single, Type::f32>;
    if (a == Type::tf32) return multiply_floats<Tf32, Type::tf32, Single, Type::f32>;
    return nullptr;
}

namespace {

/// The fragments of wmma: the PTX ISA leaves it open which lane holds what. Here a lane holds
/// elements that lie behind each other in memory: of a row, or of a column where the matrix has the
/// layout .col.
MatrixPlace place_in_fragment(unsigned lane, unsigned element, unsigned elements, unsigned line,
                              bool is_row) {
    const unsigned parts = line / elements;
    const MatrixPlace at{lane / parts, lane % parts * elements + element};
    return is_row ? at : MatrixPlace{at.column, at.row};
}

/// Calls f(row, column, bits) for the elements of a fragment, which has `total` elements in all
/// lanes.
template <class Bits, class F>
void for_fragment(const Warp& w, const std::uint32_t* operands, unsigned total, unsigned line,
                  bool is_row, F f) {
    constexpr unsigned in_register = elements_in_register<Bits>;
    const unsigned elements = total / lanes_per_warp;
    for_elements<Bits>(w, operands, elements / in_register,
                       [&](unsigned lane, unsigned r, unsigned e, Bits bits) {
                           const MatrixPlace at =
                               place_in_fragment(lane, r * in_register + e, elements, line, is_row);
                           f(at.row, at.column, bits);
                       });
}

/// Reads a and b of a product of fragments, which has `side` rows and columns.
template <class A, unsigned side, class SetA, class SetB>
void read_factors(const Warp& w, const FragmentProduct& form, const std::uint32_t* a,
                  const std::uint32_t* b, SetA set_a, SetB set_b) {
    for_fragment<typename A::Bits>(w, a, side * form.k, form.a_is_row ? form.k : side,
                                   form.a_is_row, set_a);
    for_fragment<typename A::Bits>(w, b, side * form.k, form.b_is_row ? side : form.k,
                                   form.b_is_row, set_b);
}

/// Sets the elements of d to f(row, column).
template <class Bits, unsigned side, class F>
void write_fragment(Warp& w, const std::uint32_t* operands, F f) {
    constexpr unsigned elements = side * side / lanes_per_warp;
    constexpr unsigned in_register = elements_in_register<Bits>;
    const auto place = [](unsigned lane, unsigned r, unsigned e) {
        return place_in_fragment(lane, r * in_register + e, elements, side, true);
    };
    write_elements<Bits>(w, operands, elements / in_register, place, f);
}

template <class A, unsigned registers, class C>
const Instruction* multiply_fragments(const Instruction* i, Warp& w) {
    if (!w.has_all(w.threads)) return w.wait_for_members(i, w.threads);
    const FloatMode mode(false);
    constexpr unsigned side = 16;
    const FragmentProduct form(i->detail);
    const std::uint32_t* const d = w.block->kernel->further_operands.data() + i->target;
    const std::uint32_t* const a = d + side / 2 * sizeof(typename C::Bits) / sizeof(std::uint32_t);
    double c[side][side], sums[side][side];
    for_fragment<typename C::Bits>(w, a + 2 * registers, side * side, side, true,
                                   [&](unsigned row, unsigned column, typename C::Bits bits) {
                                       c[row][column] = C::value(bits);
                                   });
    const auto add = form.k == 16 ? add_products<16> : add_products<8>;
    for (unsigned first = 0; first < side; first += columns) {
        FloatTiles tiles;
        read_factors<A, side>(
            w, form, a, a + registers,
            [&](unsigned row, unsigned k, typename A::Bits bits) {
                tiles.a[row][k] = A::value(bits);
            },
            [&](unsigned k, unsigned n, typename A::Bits bits) {
                if (n - first < columns) tiles.b[k][n - first] = A::value(bits);
            });
        tiles.find_exponents({side, form.k});
        for (unsigned row = 0; row < side; ++row)
            add(tiles, row, &c[row][first], &sums[row][first]);
    }
    write_fragment<typename C::Bits, side>(
        w, d, [&](unsigned row, unsigned column) { return C::bits(sums[row][column]); });
    return w.cost_point(i, i + 1);
}

const Instruction* multiply_double_fragments(const Instruction* i, Warp& w) {
    if (!w.has_all(w.threads)) return w.wait_for_members(i, w.threads);
    constexpr unsigned side = 8;
    const FragmentProduct form(i->detail);
    const std::uint32_t* const d = w.block->kernel->further_operands.data() + i->target;
    const std::uint32_t *const a = d + 2, *const b = a + 1, *const c = b + 1;
    Tiles<double> tiles;
    double sums[side][columns];
    read_factors<Double, side>(
        w, form, a, b,
        [&](unsigned row, unsigned k, std::uint64_t bits) {
            tiles.a[row][k] = Double::value(bits);
        },
        [&](unsigned k, unsigned n, std::uint64_t bits) { tiles.b[k][n] = Double::value(bits); });
    for_fragment<std::uint64_t>(w, c, side * side, side, true,
                                [&](unsigned row, unsigned column, std::uint64_t bits) {
                                    sums[row][column] = Double::value(bits);
                                });
    add_doubles(tiles, side, form.k, sums);
    write_fragment<std::uint64_t, side>(w, d, [&](unsigned row, unsigned column) {
        return std::bit_cast<std::uint64_t>(sums[row][column]);
    });
    return w.cost_point(i, i + 1);
}

template <class T>
const Instruction* multiply_byte_fragments(const Instruction* i, Warp& w) {
    if (!w.has_all(w.threads)) return w.wait_for_members(i, w.threads);
    constexpr unsigned side = 16;
    const FragmentProduct form(i->detail);
    const std::uint32_t* const d = w.block->kernel->further_operands.data() + i->target;
    const std::uint32_t *const a = d + 8, *const b = a + 2, *const c = b + 2;
    std::int32_t factors[2][side][side];
    std::int64_t sums[side][side];
    for_fragment<std::uint32_t>(w, c, side * side, side, true,
                                [&](unsigned row, unsigned column, std::uint32_t bits) {
                                    sums[row][column] = std::int32_t(bits);
                                });
    read_factors<Byte<T>, side>(
        w, form, a, b,
        [&](unsigned row, unsigned k, std::uint8_t bits) { factors[0][row][k] = T(bits); },
        [&](unsigned k, unsigned n, std::uint8_t bits) { factors[1][k][n] = T(bits); });
    for (unsigned row = 0; row < side; ++row)
        for (unsigned k = 0; k < side; ++k)
            for (unsigned n = 0; n < side; ++n)
                sums[row][n] += factors[0][row][k] * factors[1][k][n];
    const bool clamps = i->immediate;
    write_fragment<std::uint32_t, side>(w, d, [&](unsigned row, unsigned column) {
        const std::int64_t sum = sums[row][column];
        return std::uint32_t(clamps ? std::clamp<std::int64_t>(sum, INT32_MIN, INT32_MAX) : sum);
    });
    return w.cost_point(i, i + 1);
}

}  // namespace

Handler fragment_product(const ProductTypes& types) {
    const auto [a, b, c] = types;
    if (a != b) return nullptr;
    if (a == Type::f16 && c == Type::f16) return multiply_fragments<Half16, 8, HalfSum>;
    if (a == Type::f64 && c == Type::f64) return multiply_double_fragments;
    if (c == Type::s32)
        return a == Type::s8   ? multiply_byte_fragments<std::int8_t>
               : a == Type::u8 ? multiply_byte_fragments<std::uint8_t>
                               : nullptr;
    if (c != Type::f32) return nullptr;
    return a == Type::f16    ? multiply_fragments<Half16, 8, Single>
           : a == Type::bf16 ? multiply_fragments<Bfloat16, 4, Single>
           : a == Type::tf32 ? multiply_fragments<Tf32, 4, Single>
                             : nullptr;
}

}  // namespace warpscope::emulator
