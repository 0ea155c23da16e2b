#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "files/sentence.h"
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

/// Names an element: "pixel (35, 41)", "y[12]".
files::Sentence element_words(const std::string& name, bool is_picture,
                              const std::vector<std::size_t>& shape, std::size_t element);

/// The channels in which two colours differ: "green 0" and "75", "0" and "75" of greys.
std::pair<files::Sentence, files::Sentence> colour_words(const Array& found, const Array& right,
                                                         std::size_t element);

}  // namespace warpscope::launches
