// Operations of types without a SIMD handler, lane by lane.
#include <algorithm>
#include <bit>
#include <type_traits>

#include "emulator/handlers/each_lane.h"
#include "emulator/handlers/lane_operations.h"

namespace warpscope::emulator {

namespace lane {
namespace {

// PTX does not define division by zero. GPUs give all ones, and the dividend as the remainder.
template <typename T>
T quotient(T a, T b) {
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

// bfe: the field of `length` bits from bit `start`, extended by its sign bit (or 0).
template <typename T>
T extracted_field(T a, std::uint32_t start, std::uint32_t length) {
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
U with_field(U field, U into, std::uint32_t start, std::uint32_t length) {
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
std::uint32_t highest_bit(T a) {
    using U = std::make_unsigned_t<T>;
    U u = U(a);
    if constexpr (std::is_signed_v<T>)
        if (a < 0) u = U(~u);
    return u ? std::uint32_t(8 * sizeof(T) - 1) - std::uint32_t(std::countl_zero(u)) : ~0u;
}

template <typename T>
std::uint32_t shift_to_highest_bit(T a) {
    const std::uint32_t at = highest_bit(a);
    return at == ~0u ? at : std::uint32_t(8 * sizeof(T) - 1) - at;
}

std::uint32_t permuted_bytes(std::uint32_t a, std::uint32_t b, std::uint32_t selector) {
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
std::uint32_t nth_set_bit(std::uint32_t mask, std::uint32_t base, std::int32_t offset) {
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
std::uint32_t chosen_bytes(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
    constexpr std::uint32_t selectors[] = {s0, s1, s2, s3};
    return permuted_bytes(a, b, selectors[c & 3]);
}

std::uint64_t joined(std::uint32_t low, std::uint32_t high) {
    return std::uint64_t(high) << 32 | low;
}

template <typename T>
auto distance(T a, T b) {
    using U = std::make_unsigned_t<T>;
    return a < b ? U(U(b) - U(a)) : U(U(a) - U(b));
}

namespace meaning {
#include "emulator/handlers/operations.def"
}

// .sat clamps a float to [0, 1]; NaN becomes 0.
template <class Meaning>
struct SaturatingFloat {
    auto operator()(auto... sources) const {
        const float a = Meaning()(sources...);
        return a > 0 ? (a < 1 ? a : 1.0f) : 0.0f;
    }
};
// .sat clamps an integer result, which 64 bits hold exactly, to the range of 32 bits.
template <class Meaning>
struct SaturatingInteger {
    std::int64_t operator()(std::int64_t a, std::int64_t b) const {
        return std::clamp<std::int64_t>(Meaning()(a, b), INT32_MIN, INT32_MAX);
    }
};

template <unsigned sources, class Meaning, class Types>
Handler handler_of() {
    using R = typename Types::R;
    using A = typename Types::A;
    using B = typename Types::B;
    using C = typename Types::C;
    if constexpr (sources == 1)
        return each_lane<Meaning, R, A>;
    else if constexpr (sources == 2)
        return each_lane<Meaning, R, A, B>;
    else if constexpr (sources == 3)
        return each_lane<Meaning, R, A, B, C>;
    else
        return each_lane<Meaning, R, A, B, C, typename Types::D>;
}

template <unsigned sources, class Meaning, template <typename> class Operands, TypeSet set>
Handler handler_of(Type type) {
    return with_type<set>(
        type, []<typename T>() -> Handler { return handler_of<sources, Meaning, Operands<T>>(); });
}

}  // namespace
}  // namespace lane

Handler arithmetic_lanes(Operation operation, Type type) {
    using namespace types;
    switch (operation) {
#define OPERATION(sources, operation, operand_types, types, simd, compiled, ...)            \
    case Operation::operation:                                                              \
        return lane::handler_of<sources, lane::meaning::operation, operands::operand_types, \
                                (types) & ~(simd)>(type);
#define FLUSHING(...)
#include "emulator/handlers/operations.def"
        default:
            return nullptr;
    }
}

Handler saturating_lanes(const Arithmetic& a) {
    using namespace lane;
    using Integers = operands::Equal<std::int32_t>;
    using Floats = operands::Equal<float>;
    const bool integers = a.type == Type::s32, floats = a.type == Type::f32;
    if (a.operation == Operation::add && integers)
        return handler_of<2, SaturatingInteger<meaning::add>, Integers>();
    if (a.operation == Operation::sub && integers)
        return handler_of<2, SaturatingInteger<meaning::sub>, Integers>();
    if (a.operation == Operation::fadd && floats)
        return handler_of<2, SaturatingFloat<meaning::fadd>, Floats>();
    if (a.operation == Operation::fsub && floats)
        return handler_of<2, SaturatingFloat<meaning::fsub>, Floats>();
    if (a.operation == Operation::fmul && floats)
        return handler_of<2, SaturatingFloat<meaning::fmul>, Floats>();
    if (a.operation == Operation::fma && floats)
        return handler_of<3, SaturatingFloat<meaning::fma>, Floats>();
    return nullptr;
}

const Instruction* lop3_lanes(const Instruction* i, Warp& w) {
    const unsigned count = is_uniform(i->operands[0]) ? 1 : lanes_per_warp;
    const auto source = [&](unsigned operand, unsigned lane) {
        return w.get<std::uint32_t>(i->operands[operand], lane);
    };
    for (unsigned lane = 0; lane < count; ++lane)
        w.set(i->operands[0], lane,
              lane::by_truth_table(source(1, lane), source(2, lane), source(3, lane),
                                   unsigned(i->immediate)));
    return i + 1;
}

}  // namespace warpscope::emulator
