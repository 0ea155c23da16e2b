#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace warpscope::ui {

/// How many of the values fall into each of `bins` equal parts from the least to the greatest one,
/// which belongs to the last part. At least one bin; all in the first where the values are equal.
std::vector<unsigned> histogram(std::span<const double> values, std::size_t bins);

}  // namespace warpscope::ui
