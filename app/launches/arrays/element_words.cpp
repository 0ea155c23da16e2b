#include "launches/arrays/element_words.h"

#include <fmt/format.h>

#include <vector>

#include "launches/arrays/out_of_tolerance.h"

namespace warpscope::launches {

std::string element_words(const std::string& name, bool is_picture,
                          const std::vector<std::size_t>& shape, std::size_t element) {
    if (is_picture) return fmt::format("{} ({}, {})", name, element % shape[1], element / shape[1]);
    Array indexed;
    indexed.shape = shape;
    return place_words(name, indexed, element);
}

std::pair<std::string, std::string> colour_words(const Array& found, const Array& right,
                                                 std::size_t element) {
    static constexpr const char* names[] = {"red", "green", "blue", "alpha"};
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
        return {fmt::format("{}", channel(found, 0)), fmt::format("{}", channel(right, 0))};
    if (differ.size() == 1)
        return {fmt::format("{} {}", names[differ[0]], channel(found, differ[0])),
                fmt::format("{}", channel(right, differ[0]))};
    const auto rgb = [&](const Array& array) {
        return fmt::format("rgb {} {} {}", channel(array, 0), channel(array, 1), channel(array, 2));
    };
    return {rgb(found), rgb(right)};
}

}  // namespace warpscope::launches
