// Products of matrices by a warp (PTX ISA 9.7.14, "Warp Level Matrix Multiply-Accumulate
// Instructions").
#include <algorithm>
#include <bit>
#include <cmath>
#include <type_traits>

#include "emulator/handlers/half.h"
#include "emulator/handlers/handlers.h"
#include "emulator/warp/float_mode.h"
#include "emulator/warp/matrices.h"

namespace warpscope::emulator {

namespace {

constexpr unsigned columns = 8, most_rows = 16, most_products = 32;

// Elements of a and b: the bits that registers hold, and their values.
struct Half16 {
    using Bits = std::uint16_t;
    using Value = double;
    static double value(Bits bits) {
        const std::uint32_t digits = bits & 0x7FFFu;
        const float magnitude = digits < 0x400 ? float(digits) * 0x1p-24f
                                : digits < 0x7C00
                                    ? std::bit_cast<float>((digits << 13) + (112u << 23))
                                    : std::bit_cast<float>((digits << 13) | 0x7F800000u);
        return bits & 0x8000 ? -magnitude : magnitude;
    }
};
struct Bfloat16 {
    using Bits = std::uint16_t;
    using Value = double;
    static double value(Bits bits) { return std::bit_cast<float>(std::uint32_t(bits) << 16); }
};
struct Tf32 {
    using Bits = std::uint32_t;
    using Value = double;
    static double value(Bits bits) { return std::bit_cast<float>(bits & 0xFFFFE000u); }
};
struct Double {
    using Bits = std::uint64_t;
    using Value = double;
    static double value(Bits bits) { return std::bit_cast<double>(bits); }
};
template <class T>
struct Byte {
    using Bits = std::uint8_t;
    using Value = std::int32_t;
    static std::int32_t value(Bits bits) { return T(bits); }
};

template <class Value>
struct Tiles {
    Value a[most_rows][most_products];
    Value b[most_products][columns];
};

/// Calls f(lane, register, element, bits) for the elements of a fragment, which lie in `registers`
/// registers of each lane.
template <class Bits, class F>
void for_elements(const Warp& w, const std::uint32_t* operands, unsigned registers, F f) {
    using Register = std::conditional_t<sizeof(Bits) == 8, std::uint64_t, std::uint32_t>;
    for (unsigned r = 0; r < registers; ++r) {
        const std::byte* from = w.registers + slot_offset(operands[r]);
        const std::size_t step = is_uniform(operands[r]) ? 0 : sizeof(Register);
        for (unsigned lane = 0; lane < lanes_per_warp; ++lane, from += step) {
            Register held;
            std::memcpy(&held, from, sizeof(held));
            for (unsigned e = 0; e < sizeof(Register) / sizeof(Bits); ++e)
                f(lane, r, e, Bits(held >> 8 * sizeof(Bits) * e));
        }
    }
}

/// Lane l holds elements of row l / 4 of a, and of column l / 4 of b.
template <class A, class B>
void read_tiles(const Warp& w, const std::uint32_t* a, unsigned a_registers, const std::uint32_t* b,
                unsigned b_registers, bool two_row_blocks, Tiles<typename A::Value>& tiles) {
    constexpr unsigned elements = sizeof(typename A::Bits) < 4 ? 4 / sizeof(typename A::Bits) : 1;
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

/// The part of a double that a float holds; the rest is cut off.
float cut(double value) {
    const auto near = float(value);
    const bool is_farther = std::abs(double(near)) > std::abs(value) && !std::isinf(near);
    return is_farther ? std::bit_cast<float>(std::bit_cast<std::uint32_t>(near) - 1) : near;
}

// The exponent of a value, as tensor cores compare them. What is no finite number has one above
// those of all others, even when zero's is added to it.
constexpr std::int16_t zero_exponent = -4096, special_exponent = 12288, least_special_sum = 8192;

std::int16_t exponent_of(double value) {
    const auto field = int(std::bit_cast<std::uint64_t>(value) >> 52 & 2047);
    return std::int16_t(field == 0      ? zero_exponent
                        : field == 2047 ? special_exponent
                                        : field - 1023);
}

struct FloatTiles : Tiles<double> {
    std::int16_t a_exponents[most_rows][most_products], b_exponents[most_products][columns];

    void find_exponents(ProductShape shape) {
        for (unsigned row = 0; row < shape.m; ++row)
            for (unsigned k = 0; k < shape.k; ++k) a_exponents[row][k] = exponent_of(a[row][k]);
        for (unsigned k = 0; k < shape.k; ++k)
            for (unsigned n = 0; n < columns; ++n) b_exponents[k][n] = exponent_of(b[k][n]);
    }
};

/// A sum of special values, by IEEE 754.
double special_sum(const double* a, const double (*b)[columns], unsigned n, unsigned count,
                   double c) {
    for (unsigned k = 0; k < count; ++k) c += a[k] * b[k][n];
    return c;
}

/// One row of sums, as the tensor cores of an H200 compute them: the products are exact; they and c
/// are cut off at one place, 25 bits behind the largest exponent, where that of a product is the
/// sum of its factors' exponents; what is left is added exactly. See docs/emulator.md.
template <unsigned count>
void add_products(const FloatTiles& tiles, unsigned row, const double* c, double* sums) {
    constexpr int kept_bits = 25, least_exponent = -500;
    const double* const a = tiles.a[row];
    std::int16_t largest[columns];
    for (unsigned n = 0; n < columns; ++n) largest[n] = exponent_of(c[n]);
    for (unsigned k = 0; k < count; ++k)
        for (unsigned n = 0; n < columns; ++n) {
            const auto exponent = std::int16_t(tiles.a_exponents[row][k] + tiles.b_exponents[k][n]);
            largest[n] = exponent > largest[n] ? exponent : largest[n];
        }
    double scales[columns], places[columns];
    for (unsigned n = 0; n < columns; ++n) {
        const bool special = largest[n] >= least_special_sum;
        const int last = std::max(int(largest[n]), least_exponent) - kept_bits;
        places[n] = special ? 0 : std::bit_cast<double>(std::uint64_t(1023 + last) << 52);
        scales[n] = special ? 0 : std::bit_cast<double>(std::uint64_t(1023 - last) << 52);
    }
    std::int32_t units[columns];
    for (unsigned n = 0; n < columns; ++n) units[n] = std::int32_t(c[n] * scales[n]);
    for (unsigned k = 0; k < count; ++k)
        for (unsigned n = 0; n < columns; ++n)
            units[n] += std::int32_t(a[k] * tiles.b[k][n] * scales[n]);
    for (unsigned n = 0; n < columns; ++n)
        sums[n] = largest[n] >= least_special_sum ? special_sum(a, tiles.b, n, count, c[n])
                                                  : units[n] * places[n];
}

// Elements of c and d.
struct Single {
    using Bits = std::uint32_t;
    static double value(Bits bits) { return std::bit_cast<float>(bits); }
    static Bits bits(double sum) {
        return std::isnan(sum) ? 0x7FFFFFFFu : std::bit_cast<std::uint32_t>(cut(sum));
    }
};
struct HalfSum {
    using Bits = std::uint16_t;
    static double value(Bits bits) { return Half{bits}; }
    static Bits bits(double sum) { return Half::of(sum).bits; }
};

/// The operands of an instruction.
struct ProductOperands {
    ProductOperands(const Instruction* i, const Warp& w, Type a_type, Type c_type)
        : shape(i->detail),
          d(w.block->kernel->matrix_operands.data() + i->target),
          a(d + shape.c(c_type)),
          b(a + shape.a(a_type)),
          c(b + shape.b(a_type)) {}

    ProductShape shape;
    const std::uint32_t *d, *a, *b, *c;
};

/// Sets the elements of d to f(row, column).
template <class Bits, class F>
void write_result(Warp& w, const std::uint32_t* operands, unsigned registers, F f) {
    using Register = std::conditional_t<sizeof(Bits) == 8, std::uint64_t, std::uint32_t>;
    constexpr bool is_packed = sizeof(Bits) < 4;
    for (unsigned r = 0; r < registers; ++r) {
        if (!operands[r]) continue;  // the sink _
        for (unsigned lane = 0; lane < lanes_per_warp; ++lane) {
            if (!(w.mask >> lane & 1)) continue;
            Register held = 0;
            for (unsigned e = 0; e < sizeof(Register) / sizeof(Bits); ++e) {
                const MatrixPlace at = place_in_result(lane, r, e, is_packed);
                held |= Register(Bits(f(at.row, at.column))) << 8 * sizeof(Bits) * e;
            }
            w.set(operands[r], lane, held);
        }
    }
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

const Instruction* multiply_doubles(const Instruction* i, Warp& w) {
    if (!w.has_all(w.threads)) return w.wait_for_members(i, w.threads);
    const ProductOperands o(i, w, Type::f64, Type::f64);
    Tiles<double> tiles;
    double sums[most_rows][columns];
    read_tiles<Double, Double>(w, o.a, o.shape.a(Type::f64), o.b, o.shape.b(Type::f64),
                               o.shape.m == 16, tiles);
    read_addend<std::uint64_t>(w, o.c, o.shape.c(Type::f64), sums,
                               [](std::uint64_t bits) { return std::bit_cast<double>(bits); });
    for (unsigned row = 0; row < o.shape.m; ++row)
        for (unsigned n = 0; n < columns; ++n)
            for (unsigned k = 0; k < o.shape.k; ++k)
                sums[row][n] = std::fma(tiles.a[row][k], tiles.b[k][n], sums[row][n]);
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

const Instruction* transpose_matrix(const Instruction* i, Warp& w) {
    if (!w.has_all(w.threads)) return w.wait_for_members(i, w.threads);
    std::uint16_t matrix[8][8];
    for_elements<std::uint16_t>(w, i->operands + 1, 1,
                                [&](unsigned lane, unsigned, unsigned half, std::uint16_t bits) {
                                    const MatrixPlace at = matrix_place(lane, half, true);
                                    matrix[at.row][at.column] = bits;
                                });
    write_result<std::uint16_t>(w, i->operands, 1,
                                [&](unsigned row, unsigned column) { return matrix[row][column]; });
    return w.cost_point(i, i + 1);
}

}  // namespace warpscope::emulator
