#include "emulator/program/ptx_type.h"

#include <iterator>

namespace warpscope::emulator {

namespace {
constexpr std::string_view names[] = {"pred", "b8",  "b16",   "b32",  "b64",    "u8",  "u16",
                                      "u32",  "u64", "s8",    "s16",  "s32",    "s64", "f16",
                                      "f32",  "f64", "f16x2", "bf16", "bf16x2", "tf32"};
}

std::optional<Type> type_named(std::string_view name) {
    for (size_t i = 0; i < std::size(names); ++i)
        if (names[i] == name) return Type(i);
    return std::nullopt;
}

std::string_view name_of(Type type) {
    return names[size_t(type)];
}

}  // namespace warpscope::emulator
