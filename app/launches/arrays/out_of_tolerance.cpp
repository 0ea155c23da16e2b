#include "launches/arrays/out_of_tolerance.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

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

}  // namespace warpscope::launches
