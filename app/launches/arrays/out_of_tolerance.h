#pragma once

#include <string>
#include <vector>

#include "launches/arrays/array.h"

namespace warpscope::launches {

/// The numbers of an array that differ from the expected numbers.
struct OutOfTolerance {
    std::size_t count = 0;  ///< numbers that are out of tolerance
    std::size_t first = 0;  ///< the index of the first one, if there is one
    double largest = 0;     ///< the largest |a - b| of finite numbers
    /// For each element, whether one of its numbers is out of tolerance.
    std::vector<bool> elements;
};

/// Compares arrays of equally many numbers, or throws LaunchError. A number is in tolerance if
/// |found - expected| <= absolute + relative * |expected|; NaN equals NaN only.
OutOfTolerance out_of_tolerance(const Array& found, const Array& expected, double absolute,
                                double relative);

/// Names the place of a number by row and column: "y[12, 7]".
std::string place_words(const std::string& buffer, const Array& array, std::size_t number);

}  // namespace warpscope::launches
