#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace warpscope::ui {

/// Returns the number of values in each of `bins` parts of equal width between the smallest and the
/// largest value; the largest value belongs to the last part. `bins` of 0 counts as 1. Equal values
/// are all in the first part.
std::vector<unsigned> histogram(std::span<const double> values, std::size_t bins);

}  // namespace warpscope::ui
