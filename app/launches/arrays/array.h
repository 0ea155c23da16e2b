#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "launches/arrays/expression.h"

namespace warpscope::launches {

/// `floating` has 2, 4 or 8 bytes (IEEE 754), `bfloat` 2.
enum class ElementKind : std::uint8_t {
    boolean,
    signed_integer,
    unsigned_integer,
    floating,
    bfloat
};

/// The elements of an array: `lanes` numbers each, as in float4.
struct ElementType {
    ElementKind kind = ElementKind::floating;
    unsigned bytes = 4;  ///< bytes of one number
    unsigned lanes = 1;
    bool operator==(const ElementType&) const = default;
    bool is_real() const { return kind == ElementKind::floating || kind == ElementKind::bfloat; }
    std::size_t size() const { return std::size_t(bytes) * lanes; }
};

/// "float", "double", "int", "unsigned", "long long", "uint8_t", "bool", "half", "float4",
/// "uchar4", …; the words of CUDA C++ and of <cstdint>. Throws LaunchError that lists the types.
ElementType parse_element_type(std::string_view word);
std::string to_string(const ElementType& type);  ///< "float4"

/// Numbers in host memory, row after row.
struct Array {
    ElementType type;
    std::vector<std::size_t> shape;  ///< without the lanes; the last dimension is the fastest
    std::vector<std::byte> bytes;

    Array() = default;
    Array(const ElementType& type, std::vector<std::size_t> shape);  ///< zeros

    std::size_t elements() const;                                    ///< the product of the shape
    std::size_t numbers() const { return elements() * type.lanes; }  ///< the numbers of all lanes
    /// Index counts numbers(); an unsigned 64-bit number may wrap.
    Number at(std::size_t index) const;
    /// Converts as C++ does: a real number loses its fraction in an array of integers.
    void set(std::size_t index, const Number& number);
};

/// Returns the numbers converted to another type, with the lanes of the array.
Array converted(const Array& array, ElementType type);

/// An array of floats, with one dimension.
Array reals(const std::vector<double>& numbers);

/// Returns "1000" or "64 x 48".
std::string shape_words(const std::vector<std::size_t>& shape);

}  // namespace warpscope::launches
