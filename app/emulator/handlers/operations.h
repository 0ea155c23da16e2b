#pragma once

#include <cstdint>
#include <initializer_list>
#include <type_traits>

#include "emulator/program/ptx_type.h"

// The words with which operations.def describes operations.
namespace warpscope::emulator {

/// The rounding modifiers of PTX: .rn, .rz, .rm, .rp and .rna, which rounds to the nearest value,
/// and halfway away from zero.
enum class Rounding : std::uint8_t { none, nearest, zero, down, up, nearest_away };

/// A set of types. Bit k stands for the type with the value k.
using TypeSet = std::uint32_t;
constexpr TypeSet set_of(std::initializer_list<Type> types) {
    TypeSet set = 0;
    for (const Type t : types) set |= 1u << unsigned(t);
    return set;
}
constexpr bool contains(TypeSet set, Type type) {
    return set >> unsigned(type) & 1;
}

namespace types {
constexpr TypeSet none = 0, pred = set_of({Type::pred});
constexpr TypeSet s32 = set_of({Type::s32}), f32 = set_of({Type::f32});
constexpr TypeSet f32_f64 = set_of({Type::f32, Type::f64});
constexpr TypeSet int_16 = set_of({Type::u16, Type::s16}), int_32 = set_of({Type::u32, Type::s32});
constexpr TypeSet u64 = set_of({Type::u64}), int_64 = set_of({Type::u64, Type::s64});
constexpr TypeSet b16 = set_of({Type::b16}), b32 = set_of({Type::b32}), b64 = set_of({Type::b64});
constexpr TypeSet ints = int_16 | int_32 | int_64, bits = b16 | b32 | b64;
}  // namespace types

/// The C++ types of an operation's result R and its sources A, B, C and D, by its PTX type T.
namespace operands {
template <typename T>
struct Equal {
    using R = T;
    using A = T;
    using B = T;
    using C = T;
};
/// For operations that do not depend on the sign: signed and unsigned integers share a handler.
template <typename T>
using Unsigned = Equal<std::make_unsigned_t<T>>;
/// The result, and what is added to it, has twice the width.
template <typename T>
struct Wide : Equal<T> {
    using R = std::conditional_t<sizeof(T) == 2, std::uint32_t, std::uint64_t>;
    using C = R;
};
/// A shift amount or the place of a bit field has 32 bits.
template <typename T>
struct Amount : Equal<T> {
    using B = std::uint32_t;
    using C = std::uint32_t;
};
template <typename T>
struct Insertion : Equal<T> {
    using C = std::uint32_t;
    using D = std::uint32_t;
};
/// The number or the position of bits has 32 bits.
template <typename T>
struct Position : Equal<T> {
    using R = std::uint32_t;
};
template <typename T>
struct SignedThird : Equal<T> {
    using C = std::make_signed_t<T>;
};
}  // namespace operands

/// Calls f.operator()<T>() with the C++ type T of a PTX type, or gives nullptr if the set does not
/// contain the type.
template <TypeSet set, class F>
auto with_type(Type type, F f) -> decltype(f.template operator()<std::uint32_t>()) {
#define WARPSCOPE_TYPE(ptx, T)              \
    if constexpr (contains(set, Type::ptx)) \
        if (type == Type::ptx) return f.template operator()<T>();
    WARPSCOPE_TYPE(b16, std::uint16_t)
    WARPSCOPE_TYPE(b32, std::uint32_t)
    WARPSCOPE_TYPE(b64, std::uint64_t)
    WARPSCOPE_TYPE(u16, std::uint16_t)
    WARPSCOPE_TYPE(u32, std::uint32_t)
    WARPSCOPE_TYPE(u64, std::uint64_t)
    WARPSCOPE_TYPE(s16, std::int16_t)
    WARPSCOPE_TYPE(s32, std::int32_t)
    WARPSCOPE_TYPE(s64, std::int64_t)
    WARPSCOPE_TYPE(f32, float)
    WARPSCOPE_TYPE(f64, double)
#undef WARPSCOPE_TYPE
    return nullptr;
}

}  // namespace warpscope::emulator
