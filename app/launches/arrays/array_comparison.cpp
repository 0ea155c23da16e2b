#include "launches/arrays/array_comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace warpscope::launches {

OutOfTolerance out_of_tolerance(const Array& found, const Array& expected, double absolute,
                                double relative) {
    if (found.numbers() != expected.numbers())
        throw LaunchError(fmt::format("the buffer has {} numbers, but {} are expected",
                                      found.numbers(), expected.numbers()));
    OutOfTolerance result;
    result.elements.resize(found.elements());
    if (found.type == expected.type && found.bytes == expected.bytes) return result;
    for (std::size_t i = 0; i < found.numbers(); ++i) {
        const Number a_number = found.at(i), b_number = expected.at(i);
        const double a = real(a_number), b = real(b_number);
        // Integers of 64 bits are compared as integers: not all of them fit into a double.
        const bool equal = a_number == b_number || a == b || (std::isnan(a) && std::isnan(b));
        if (equal) continue;
        const double distance = std::fabs(a - b);
        if (std::isfinite(distance)) result.largest = std::max(result.largest, distance);
        if (distance <= absolute + relative * std::fabs(b) && std::isfinite(b)) continue;
        if (result.count++ == 0) result.first = i;
        result.elements[i / found.type.lanes] = true;
    }
    return result;
}

std::string place_words(const std::string& buffer, const Array& array, std::size_t number) {
    static constexpr std::string_view lanes = "xyzw";
    std::size_t element = number / array.type.lanes;
    std::vector<std::size_t> indices(array.shape.size());
    for (std::size_t d = array.shape.size(); d-- > 0;) {
        indices[d] = element % array.shape[d];
        element /= array.shape[d];
    }
    std::string words = fmt::format("{}[{}]", buffer, fmt::join(indices, ", "));
    if (array.type.lanes > 1) words += fmt::format(".{}", lanes[number % array.type.lanes]);
    return words;
}

files::Sentence element_words(const std::string& name, bool is_picture,
                              const std::vector<std::size_t>& shape, std::size_t element) {
    if (is_picture && name == "pixel")
        return files::sentence("pixel ({}, {})", element % shape[1], element / shape[1]);
    if (is_picture) return fmt::format("{} ({}, {})", name, element % shape[1], element / shape[1]);
    Array indexed;
    indexed.shape = shape;
    return place_words(name, indexed, element);
}

std::pair<files::Sentence, files::Sentence> colour_words(const Array& found, const Array& right,
                                                         std::size_t element) {
    static constexpr files::Form<1> forms[] = {"red {}", "green {}", "blue {}", "alpha {}"};
    const auto channel = [&](const Array& array, std::size_t c) {
        return unsigned(array.bytes[element * 4 + c]);
    };
    const auto is_grey = [&](const Array& array) {
        return channel(array, 0) == channel(array, 1) && channel(array, 1) == channel(array, 2);
    };
    std::vector<std::size_t> differ;
    for (std::size_t c = 0; c < 4; ++c)
        if (channel(found, c) != channel(right, c)) differ.push_back(c);
    if (is_grey(found) && is_grey(right))
        return {fmt::to_string(channel(found, 0)), fmt::to_string(channel(right, 0))};
    if (differ.size() == 1)
        return {files::sentence(forms[differ[0]], channel(found, differ[0])),
                fmt::to_string(channel(right, differ[0]))};
    const auto rgb = [&](const Array& array) {
        return fmt::format("rgb {} {} {}", channel(array, 0), channel(array, 1), channel(array, 2));
    };
    return {rgb(found), rgb(right)};
}

}  // namespace warpscope::launches
