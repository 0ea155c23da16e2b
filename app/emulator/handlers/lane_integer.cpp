#include <algorithm>
#include <bit>
#include <type_traits>

#include "emulator/handlers/each_lane.h"
#include "emulator/handlers/lane_operations.h"

namespace warpscope::emulator {

namespace {

// PTX does not define division by zero. GPUs give all ones, and the dividend as the remainder.
template <typename T>
T divide(T a, T b) {
    if (b == 0) return T(~T(0));
    if constexpr (std::is_signed_v<T>)
        if (b == -1) return T(0 - std::make_unsigned_t<T>(a));
    return T(a / b);
}
template <typename T>
T remainder(T a, T b) {
    if (b == 0) return a;
    if constexpr (std::is_signed_v<T>)
        if (b == -1) return 0;
    return T(a % b);
}

template <typename T>
T high_half(T a, T b) {
    if constexpr (sizeof(T) == 8) {
        using Wide = std::conditional_t<std::is_signed_v<T>, __int128, unsigned __int128>;
        return T(Wide(a) * Wide(b) >> 64);
    } else {
        using Wide = std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>;
        return T(Wide(a) * Wide(b) >> (8 * sizeof(T)));
    }
}

template <typename T>
T shift_left(T a, std::uint32_t n) {
    return n >= 8 * sizeof(T) ? T(0) : T(std::make_unsigned_t<T>(a) << n);
}
template <typename T>
T shift_right(T a, std::uint32_t n) {
    const auto last = std::uint32_t(8 * sizeof(T) - 1);
    if (n > last) return std::is_signed_v<T> ? T(a >> last) : T(0);
    return T(a >> n);
}

// bfe: the field of `length` bits from bit `start`, extended by its sign bit (or 0).
template <typename T>
T extract_field(T a, std::uint32_t start, std::uint32_t length) {
    using U = std::make_unsigned_t<T>;
    constexpr std::uint32_t bits = 8 * sizeof(T);
    start &= 0xFF;
    length &= 0xFF;
    if (length == 0) return 0;
    const bool negative =
        std::is_signed_v<T> && (U(a) >> std::min(start + length - 1, bits - 1) & 1);
    U result = start >= bits ? U(0) : U(U(a) >> start);
    const std::uint32_t kept = start >= bits ? 0 : std::min(length, bits - start);
    if (kept < bits) {
        const U low = U((U(1) << kept) - 1);
        result = negative ? U(result | ~low) : U(result & low);
    }
    return T(result);
}

template <typename U>
U insert_field(U field, U into, std::uint32_t start, std::uint32_t length) {
    constexpr std::uint32_t bits = 8 * sizeof(U);
    start &= 0xFF;
    length &= 0xFF;
    if (start >= bits || length == 0) return into;
    const U ones = length >= bits ? U(~U(0)) : U((U(1) << length) - 1);
    const U mask = U(ones << start);
    return U((into & ~mask) | (U(field << start) & mask));
}

template <typename U>
U reversed(U a) {
    U r = 0;
    for (unsigned b = 0; b < 8 * sizeof(U); ++b) r = U(r << 1 | (a >> b & 1));
    return r;
}

// bfind: position of the highest bit that differs from the sign bit; all ones if there is none.
template <typename T>
std::uint32_t find_highest(T a) {
    using U = std::make_unsigned_t<T>;
    U u = U(a);
    if constexpr (std::is_signed_v<T>)
        if (a < 0) u = U(~u);
    return u ? std::uint32_t(8 * sizeof(T) - 1) - std::uint32_t(std::countl_zero(u)) : ~0u;
}

std::uint32_t permute_bytes(std::uint32_t a, std::uint32_t b, std::uint32_t selector) {
    const std::uint64_t bytes = std::uint64_t(b) << 32 | a;
    std::uint32_t r = 0;
    for (unsigned k = 0; k < 4; ++k) {
        const std::uint32_t s = selector >> 4 * k & 0xF;
        std::uint32_t byte = std::uint32_t(bytes >> 8 * (s & 7)) & 0xFF;
        if (s & 8) byte = byte & 0x80 ? 0xFF : 0;
        r |= byte << 8 * k;
    }
    return r;
}

// fns: position of the `offset`-th set bit from bit `base` on, upwards, or downwards if `offset` is
// negative. Offset 0: `base` if that bit is set. All ones if there is none.
std::uint32_t find_nth_set(std::uint32_t mask, std::uint32_t base, std::int32_t offset) {
    if (offset == 0) return base < 32 && (mask >> base & 1) ? base : ~0u;
    std::int64_t count = offset < 0 ? -std::int64_t(offset) : std::int64_t(offset);
    for (std::uint32_t at = base; at < 32; offset < 0 ? --at : ++at)
        if ((mask >> at & 1) && --count == 0) return at;
    return ~0u;
}

// bmsk: `length` set bits from bit `start` on.
template <bool clamps>
std::uint32_t bit_mask(std::uint32_t start, std::uint32_t length) {
    if (clamps && start >= 32) return 0;
    const std::uint32_t first = start & 31, count = length & 31;
    const std::uint32_t above =
        (clamps && length >= 32) || first + count >= 32 ? 0 : ~0u << (first + count);
    return (~0u << first) & ~above;
}

// The product of the low 24 bits of both.
template <typename T>
std::int64_t product_24(T a, T b) {
    const auto low = [](T v) { return std::int64_t(T(std::make_unsigned_t<T>(v) << 8) >> 8); };
    return low(a) * low(b);
}

// A mode of prmt: the two low bits of operand c choose one of four selectors.
template <std::uint32_t s0, std::uint32_t s1, std::uint32_t s2, std::uint32_t s3>
Handler permute_by() {
    return lanes<std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t>(
        [](std::uint32_t a, std::uint32_t b, std::uint32_t c) {
            constexpr std::uint32_t selectors[] = {s0, s1, s2, s3};
            return permute_bytes(a, b, selectors[c & 3]);
        });
}

std::int32_t saturated(std::int64_t value) {
    return std::int32_t(std::clamp<std::int64_t>(value, INT32_MIN, INT32_MAX));
}

template <typename T>
Handler arithmetic(Operation op) {
    using U = std::make_unsigned_t<T>;
    if (op == Operation::add) return lanes<U, U, U>([](U a, U b) { return U(a + b); });
    if (op == Operation::sub) return lanes<U, U, U>([](U a, U b) { return U(a - b); });
    if (op == Operation::mul_lo)
        return lanes<U, U, U>([](U a, U b) { return U(std::uint64_t(a) * b); });
    if (op == Operation::mad_lo)
        return lanes<U, U, U, U>([](U a, U b, U c) { return U(std::uint64_t(a) * b + c); });
    if (op == Operation::mul_hi) return lanes<T, T, T>([](T a, T b) { return high_half(a, b); });
    if (op == Operation::mad_hi)
        return lanes<U, T, T, U>([](T a, T b, U c) { return U(U(high_half(a, b)) + c); });
    if (op == Operation::div) return lanes<T, T, T>([](T a, T b) { return divide(a, b); });
    if (op == Operation::rem) return lanes<T, T, T>([](T a, T b) { return remainder(a, b); });
    if (op == Operation::min) return lanes<T, T, T>([](T a, T b) { return std::min(a, b); });
    if (op == Operation::max) return lanes<T, T, T>([](T a, T b) { return std::max(a, b); });
    if (op == Operation::neg) return lanes<U, U>([](U a) { return U(0 - a); });
    if (op == Operation::abs) return lanes<U, T>([](T a) { return a < 0 ? U(0 - U(a)) : U(a); });
    if (op == Operation::sad)
        return lanes<U, T, T, U>(
            [](T a, T b, U c) { return U(c + (a < b ? U(b) - U(a) : U(a) - U(b))); });
    if constexpr (sizeof(T) == 4) {
        if (op == Operation::mul24_lo)
            return lanes<U, T, T>([](T a, T b) { return U(product_24(a, b)); });
        if (op == Operation::mul24_hi)
            return lanes<U, T, T>([](T a, T b) { return U(product_24(a, b) >> 16); });
        if (op == Operation::mad24_lo)
            return lanes<U, T, T, U>([](T a, T b, U c) { return U(U(product_24(a, b)) + c); });
        if (op == Operation::mad24_hi)
            return lanes<U, T, T, U>(
                [](T a, T b, U c) { return U(U(product_24(a, b) >> 16) + c); });
    }
    if (op == Operation::shr)
        return lanes<T, T, std::uint32_t>([](T a, std::uint32_t n) { return shift_right(a, n); });
    if (op == Operation::bfe && sizeof(T) >= 4)
        return lanes<T, T, std::uint32_t, std::uint32_t>(
            [](T a, std::uint32_t s, std::uint32_t n) { return extract_field(a, s, n); });
    if (op == Operation::bfind && sizeof(T) >= 4)
        return lanes<std::uint32_t, T>([](T a) { return find_highest(a); });
    if (op == Operation::bfind_shiftamt && sizeof(T) >= 4)
        return lanes<std::uint32_t, T>([](T a) {
            const std::uint32_t at = find_highest(a);
            return at == ~0u ? at : std::uint32_t(8 * sizeof(T) - 1) - at;
        });
    return nullptr;
}

// mul.wide and mad.wide of 16-bit values; 32-bit ones are SIMD.
template <typename T, typename Wide>
Handler widening(Operation op) {
    using U = std::make_unsigned_t<Wide>;
    if (op == Operation::mul_wide)
        return lanes<Wide, T, T>([](T a, T b) { return Wide(Wide(a) * Wide(b)); });
    if (op == Operation::mad_wide)
        return lanes<U, T, T, U>([](T a, T b, U c) { return U(U(Wide(a) * Wide(b)) + c); });
    return nullptr;
}

template <typename U>
Handler bitwise(Operation op) {
    if (op == Operation::and_) return lanes<U, U, U>([](U a, U b) { return U(a & b); });
    if (op == Operation::or_) return lanes<U, U, U>([](U a, U b) { return U(a | b); });
    if (op == Operation::xor_) return lanes<U, U, U>([](U a, U b) { return U(a ^ b); });
    if (op == Operation::not_) return lanes<U, U>([](U a) { return U(~a); });
    if (op == Operation::cnot) return lanes<U, U>([](U a) { return U(a == 0); });
    if (op == Operation::shl)
        return lanes<U, U, std::uint32_t>([](U a, std::uint32_t n) { return shift_left(a, n); });
    if (op == Operation::shr)
        return lanes<U, U, std::uint32_t>([](U a, std::uint32_t n) { return shift_right(a, n); });
    if constexpr (sizeof(U) >= 4) {
        if (op == Operation::popc)
            return lanes<std::uint32_t, U>([](U a) { return std::uint32_t(std::popcount(a)); });
        if (op == Operation::clz)
            return lanes<std::uint32_t, U>([](U a) { return std::uint32_t(std::countl_zero(a)); });
        if (op == Operation::brev) return lanes<U, U>([](U a) { return reversed(a); });
        if (op == Operation::bfi)
            return lanes<U, U, U, std::uint32_t, std::uint32_t>(
                [](U a, U b, std::uint32_t s, std::uint32_t n) {
                    return insert_field(a, b, s, n);
                });
    }
    return nullptr;
}

Handler only_32(Operation op) {
    using U = std::uint32_t;
    if (op == Operation::prmt)
        return lanes<U, U, U, U>([](U a, U b, U c) { return permute_bytes(a, b, c); });
    if (op == Operation::fns)
        return lanes<U, U, U, std::int32_t>(
            [](U mask, U base, std::int32_t offset) { return find_nth_set(mask, base, offset); });
    if (op == Operation::bmsk_clamp)
        return lanes<U, U, U>([](U start, U length) { return bit_mask<true>(start, length); });
    if (op == Operation::bmsk_wrap)
        return lanes<U, U, U>([](U start, U length) { return bit_mask<false>(start, length); });
    if (op == Operation::prmt_f4e) return permute_by<0x3210, 0x4321, 0x5432, 0x6543>();
    if (op == Operation::prmt_b4e) return permute_by<0x5670, 0x6701, 0x7012, 0x0123>();
    if (op == Operation::prmt_rc8) return permute_by<0x0000, 0x1111, 0x2222, 0x3333>();
    if (op == Operation::prmt_ecl) return permute_by<0x3210, 0x3211, 0x3222, 0x3333>();
    if (op == Operation::prmt_ecr) return permute_by<0x0000, 0x1110, 0x2210, 0x3210>();
    if (op == Operation::prmt_rc16) return permute_by<0x1010, 0x3232, 0x1010, 0x3232>();
    if (op == Operation::shf_l_wrap)
        return lanes<U, U, U, U>(
            [](U a, U b, U n) { return U((std::uint64_t(b) << 32 | a) << (n & 31) >> 32); });
    if (op == Operation::shf_r_wrap)
        return lanes<U, U, U, U>(
            [](U a, U b, U n) { return U((std::uint64_t(b) << 32 | a) >> (n & 31)); });
    if (op == Operation::shf_l_clamp)
        return lanes<U, U, U, U>([](U a, U b, U n) {
            return U((std::uint64_t(b) << 32 | a) << std::min(n, 32u) >> 32);
        });
    if (op == Operation::shf_r_clamp)
        return lanes<U, U, U, U>(
            [](U a, U b, U n) { return U((std::uint64_t(b) << 32 | a) >> std::min(n, 32u)); });
    return nullptr;
}

// .sat
Handler saturating(Operation op) {
    using T = std::int32_t;
    if (op == Operation::add)
        return lanes<T, T, T>([](T a, T b) { return saturated(std::int64_t(a) + b); });
    if (op == Operation::sub)
        return lanes<T, T, T>([](T a, T b) { return saturated(std::int64_t(a) - b); });
    return nullptr;
}

}  // namespace

Handler integer_lanes(const Arithmetic& a) {
    const Operation op = a.operation;
    if (a.saturates) return a.type == Type::s32 ? saturating(op) : nullptr;
    const bool widens = op == Operation::mul_wide || op == Operation::mad_wide;
    switch (a.type) {
        case Type::u16:
            return widens ? widening<std::uint16_t, std::uint32_t>(op)
                          : arithmetic<std::uint16_t>(op);
        case Type::s16:
            return widens ? widening<std::int16_t, std::int32_t>(op) : arithmetic<std::int16_t>(op);
        case Type::u32:
            return arithmetic<std::uint32_t>(op);
        case Type::s32:
            return arithmetic<std::int32_t>(op);
        case Type::u64:
            return arithmetic<std::uint64_t>(op);
        case Type::s64:
            return arithmetic<std::int64_t>(op);
        case Type::b16:
            return bitwise<std::uint16_t>(op);
        case Type::b32:
            if (const Handler found = only_32(op)) return found;
            return bitwise<std::uint32_t>(op);
        case Type::b64:
            return bitwise<std::uint64_t>(op);
        default:
            return nullptr;
    }
}

const Instruction* lop3_lanes(const Instruction* i, Warp& w) {
    const unsigned count = is_uniform(i->operands[0]) ? 1 : lanes_per_warp;
    for (unsigned lane = 0; lane < count; ++lane) {
        const auto a = w.get<std::uint32_t>(i->operands[1], lane);
        const auto b = w.get<std::uint32_t>(i->operands[2], lane);
        const auto c = w.get<std::uint32_t>(i->operands[3], lane);
        std::uint32_t r = 0;
        for (unsigned k = 0; k < 8; ++k)
            if (i->immediate >> k & 1) r |= (k & 4 ? a : ~a) & (k & 2 ? b : ~b) & (k & 1 ? c : ~c);
        w.set(i->operands[0], lane, r);
    }
    return i + 1;
}

}  // namespace warpscope::emulator
