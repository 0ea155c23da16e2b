#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "compute/device/number_text.h"

namespace warpscope::ui {

using compute::compact;
using compute::milliseconds;
using compute::multiple;
using compute::quantity;
using compute::rate;
using compute::si;

/// Formats a launch configuration: "64×64 · 16×16", "32 · 256". Dimensions of 1 at the end are left
/// out. Returns "-" where several launches are timed together and have no common configuration.
std::string grid_by_block(const compute::Dim3& grid, const compute::Dim3& block);
std::string dimensions(const compute::Dim3& size);

/// Rounds the value of a slider to three significant digits, within [low, high].
std::string rounded(double value, double low, double high);

/// Returns the text with each run of blanks, tabs and line ends replaced by one space.
std::string one_line(std::string_view text);

/// The words in lines that fit. Lines break at spaces, and between Chinese characters, which have
/// none between words; a line that holds one piece alone need not fit.
std::string with_line_breaks(std::string_view words,
                             const std::function<bool(const std::string&)>& fits);

}  // namespace warpscope::ui
