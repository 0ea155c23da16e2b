#pragma once

#include <optional>
#include <vector>

#include "experiments/framework/experiment.h"
#include "launches/arrays/array.h"
#include "launches/files/launch_file.h"

namespace warpscope::experiments {

/// How an array of this type and shape is shown where the choice is automatic: two dimensions as a
/// picture (colours for four bytes an element, else a colour map), one dimension as a plot.
launches::BufferView automatic_view(const launches::ElementType& type,
                                    const std::vector<std::size_t>& shape);

/// The size of its picture: columns and rows of the array, at most 4096 each, where it is shown as
/// a picture; that of the view for plots and histograms. An array with one dimension continues in
/// the next row after 16 elements or a larger power of two.
Size picture_size(const std::vector<std::size_t>& shape, launches::BufferView view, Size of_view);

/// The element at a pixel of the picture (colours, grey or a colour map) of an array of this shape;
/// nullopt where a pixel shows none, past the end of the last row.
std::optional<std::size_t> element_at(const std::vector<std::size_t>& shape, Size size, int x,
                                      int y);

/// The array as a picture of this size. Grey and colour maps go from the smallest finite number to
/// the largest; numbers that are not finite are magenta. `marked` paints the elements for which it
/// is true red; it is empty or has an element each.
std::vector<Rgba> picture_of(const launches::Array& array, launches::BufferView view, Size size,
                             const std::vector<bool>& marked);

/// The smallest and the largest finite number, and their mean; nullopt if none is finite.
struct FiniteRange {
    double low, high, mean;
};
/// How many numbers are infinite and how many are none (NaN).
struct NotFinite {
    std::size_t infinite = 0, nan = 0;
};
NotFinite count_not_finite(const launches::Array& array);
std::optional<FiniteRange> finite_range_of(const launches::Array& array);

}  // namespace warpscope::experiments
