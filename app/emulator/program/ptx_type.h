#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace warpscope::emulator {

/// The fundamental types of PTX (PTX ISA 5.2.1) that the emulator knows.
enum class Type : std::uint8_t {
    pred,
    b8,
    b16,
    b32,
    b64,
    u8,
    u16,
    u32,
    u64,
    s8,
    s16,
    s32,
    s64,
    f16,
    f32,
    f64,
    f16x2,
    bf16,
    bf16x2,
    tf32
};

std::optional<Type> type_named(std::string_view name);  ///< "u32", without the dot
std::string_view name_of(Type type);

constexpr unsigned bits_of(Type type) {
    switch (type) {
        case Type::pred:
            return 1;
        case Type::b8:
        case Type::u8:
        case Type::s8:
            return 8;
        case Type::b16:
        case Type::u16:
        case Type::s16:
        case Type::f16:
        case Type::bf16:
            return 16;
        case Type::b32:
        case Type::u32:
        case Type::s32:
        case Type::f32:
        case Type::f16x2:
        case Type::bf16x2:
        case Type::tf32:
            return 32;
        default:
            return 64;
    }
}
constexpr unsigned bytes_of(Type type) {
    return type == Type::pred ? 1 : bits_of(type) / 8;
}
constexpr bool is_signed(Type type) {
    return type >= Type::s8 && type <= Type::s64;
}
constexpr bool is_float(Type type) {
    return type >= Type::f16;
}
constexpr bool is_pair(Type type) {
    return type == Type::f16x2 || type == Type::bf16x2;
}
constexpr bool is_bfloat(Type type) {
    return type == Type::bf16 || type == Type::bf16x2;
}
/// A binary16 or bfloat16, or a pair of them.
constexpr bool is_half(Type type) {
    return type == Type::f16 || type == Type::bf16 || is_pair(type);
}

}  // namespace warpscope::emulator
