#include "launches/arrays/array.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <numeric>

#include "emulator/handlers/half.h"

namespace warpscope::launches {
namespace {

using enum ElementKind;

struct Word {
    std::string_view word;
    ElementType type;
};

/// Each type may have several words. Messages show the first one.
constexpr std::array scalar_words{
    Word{"bool", {boolean, 1}},
    Word{"char", {signed_integer, 1}},
    Word{"signed char", {signed_integer, 1}},
    Word{"int8_t", {signed_integer, 1}},
    Word{"unsigned char", {unsigned_integer, 1}},
    Word{"uint8_t", {unsigned_integer, 1}},
    Word{"short", {signed_integer, 2}},
    Word{"int16_t", {signed_integer, 2}},
    Word{"unsigned short", {unsigned_integer, 2}},
    Word{"uint16_t", {unsigned_integer, 2}},
    Word{"int", {signed_integer, 4}},
    Word{"int32_t", {signed_integer, 4}},
    Word{"unsigned", {unsigned_integer, 4}},
    Word{"unsigned int", {unsigned_integer, 4}},
    Word{"uint32_t", {unsigned_integer, 4}},
    Word{"long long", {signed_integer, 8}},
    Word{"long", {signed_integer, 8}},
    Word{"int64_t", {signed_integer, 8}},
    Word{"unsigned long long", {unsigned_integer, 8}},
    Word{"unsigned long", {unsigned_integer, 8}},
    Word{"uint64_t", {unsigned_integer, 8}},
    Word{"size_t", {unsigned_integer, 8}},
    Word{"float", {floating, 4}},
    Word{"double", {floating, 8}},
    Word{"half", {floating, 2}},
    Word{"__half", {floating, 2}},
    Word{"bfloat16", {bfloat, 2}},
    Word{"__nv_bfloat16", {bfloat, 2}},
};

/// Types with several lanes: float2, float3, float4.
constexpr std::array vector_words{
    Word{"char", {signed_integer, 1}},     Word{"uchar", {unsigned_integer, 1}},
    Word{"short", {signed_integer, 2}},    Word{"ushort", {unsigned_integer, 2}},
    Word{"int", {signed_integer, 4}},      Word{"uint", {unsigned_integer, 4}},
    Word{"longlong", {signed_integer, 8}}, Word{"ulonglong", {unsigned_integer, 8}},
    Word{"float", {floating, 4}},          Word{"double", {floating, 8}},
    Word{"half", {floating, 2}},           Word{"__half", {floating, 2}},
    Word{"bfloat16", {bfloat, 2}},         Word{"__nv_bfloat16", {bfloat, 2}},
};

/// Calls `with` with a value of the C++ type of one number.
template <class With>
auto of_type(const ElementType& type, With with) {
    switch (type.kind) {
        case floating:
            if (type.bytes == 2) return with(emulator::Half());
            return type.bytes == 4 ? with(float()) : with(double());
        case bfloat:
            return with(emulator::Bfloat());
        case boolean:
            return with(bool());
        case signed_integer:
            if (type.bytes == 1) return with(std::int8_t());
            if (type.bytes == 2) return with(std::int16_t());
            return type.bytes == 4 ? with(std::int32_t()) : with(std::int64_t());
        case unsigned_integer:
            break;
    }
    if (type.bytes == 1) return with(std::uint8_t());
    if (type.bytes == 2) return with(std::uint16_t());
    return type.bytes == 4 ? with(std::uint32_t()) : with(std::uint64_t());
}

}  // namespace

ElementType parse_element_type(std::string_view word) {
    for (const Word& known : scalar_words)
        if (known.word == word) return known.type;
    if (!word.empty() && word.back() >= '2' && word.back() <= '4') {
        for (const Word& known : vector_words) {
            if (known.word != word.substr(0, word.size() - 1)) continue;
            ElementType type = known.type;
            type.lanes = unsigned(word.back() - '0');
            return type;
        }
    }
    throw LaunchError(
        fmt::format("\"{}\" is no type of elements: write float, double, half, bfloat16, int, "
                    "unsigned, char, short, long "
                    "long, bool, uint8_t to int64_t, or a vector such as float4 or uchar4",
                    word));
}

std::string to_string(const ElementType& type) {
    if (type.lanes == 1) {
        for (const Word& known : scalar_words)
            if (known.type == type) return std::string(known.word);
    }
    for (const Word& known : vector_words)
        if (known.type.kind == type.kind && known.type.bytes == type.bytes)
            return fmt::format("{}{}", known.word, type.lanes);
    return fmt::format("{} bytes", type.size());
}

Array::Array(const ElementType& type, std::vector<std::size_t> shape)
    : type(type), shape(std::move(shape)), bytes(elements() * type.size()) {}

std::size_t Array::elements() const {
    return std::accumulate(shape.begin(), shape.end(), std::size_t(1), std::multiplies<>());
}

Number Array::at(std::size_t index) const {
    return of_type(type, [&](auto value) -> Number {
        std::memcpy(&value, &bytes[index * sizeof(value)], sizeof(value));
        if constexpr (std::is_integral_v<decltype(value)>)
            return std::int64_t(value);
        else if constexpr (std::is_floating_point_v<decltype(value)>)
            return double(value);
        else  // all NaNs of 16 bits are one
            return value.is_nan() ? std::numeric_limits<double>::quiet_NaN() : double(value);
    });
}

void Array::set(std::size_t index, const Number& number) {
    of_type(type, [&](auto value) {
        using Value = decltype(value);
        if constexpr (std::is_floating_point_v<Value>)
            value = Value(real(number));
        else if constexpr (!std::is_integral_v<Value>)
            value = Value::of(real(number));
        else if (const auto* integer = std::get_if<std::int64_t>(&number))
            value = Value(*integer);
        else if constexpr (std::is_same_v<Value, bool>)
            value = Value(std::get<double>(number));
        else
            // A direct conversion of a value that does not fit is undefined in C++.
            value = Value(std::int64_t(
                std::fmax(-0x1p63, std::fmin(std::get<double>(number), 0x1p63 - 1024))));
        std::memcpy(&bytes[index * sizeof(value)], &value, sizeof(value));
    });
}

Array converted(const Array& array, ElementType type) {
    type.lanes = array.type.lanes;
    Array made(type, array.shape);
    for (std::size_t i = 0; i < array.numbers(); ++i) made.set(i, array.at(i));
    return made;
}

Array reals(const std::vector<double>& numbers) {
    Array array({ElementKind::floating, 4, 1}, {numbers.size()});
    for (std::size_t k = 0; k < numbers.size(); ++k) array.set(k, numbers[k]);
    return array;
}

std::string shape_words(const std::vector<std::size_t>& shape) {
    return fmt::format("{}", fmt::join(shape, " x "));
}

}  // namespace warpscope::launches
