#pragma once

#include <string>
#include <vector>

#include "experiments/arrays/array.h"

namespace warpscope::experiments {

/// The numbers of an array that differ from those that are expected.
struct Difference {
    std::size_t count = 0;       ///< numbers that are out of tolerance
    std::size_t first = 0;       ///< the index of the first one, if there is one
    double largest = 0;          ///< the largest |a - b| of finite numbers
    std::vector<bool> elements;  ///< by element: whether one of its numbers is out of tolerance
};

/// Both arrays have equally many numbers, or LaunchError is thrown. NaN equals NaN only.
Difference difference(const Array& found, const Array& expected, double absolute, double relative);

/// "y[12, 7]": the place of a number, by row and column.
std::string place_words(const std::string& buffer, const Array& array, std::size_t number);

}  // namespace warpscope::experiments
