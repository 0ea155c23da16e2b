#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "launches/arrays/array.h"

namespace warpscope::launches {

/// Names an element: "pixel (35, 41)", "y[12]".
std::string element_words(const std::string& name, bool is_picture,
                          const std::vector<std::size_t>& shape, std::size_t element);

/// The channels in which two colours differ: "green 0" and "75", "0" and "75" of greys.
std::pair<std::string, std::string> colour_words(const Array& found, const Array& right,
                                                 std::size_t element);

}  // namespace warpscope::launches
