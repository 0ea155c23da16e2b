#pragma once

#include <string>
#include <string_view>

#include "compute/device/quantity.h"

namespace warpscope::ui {

using compute::compact;
using compute::milliseconds;
using compute::multiple;
using compute::quantity;
using compute::rate;
using compute::si;

/// "64×64 · 16×16", "32 · 256": dimensions of 1 at the end are left out. "-" where several launches
/// are timed together and have no common configuration.
std::string grid_by_block(const compute::Dim3& grid, const compute::Dim3& block);
std::string dimensions(const compute::Dim3& size);

/// The value of a slider with three significant digits, within [low, high].
std::string rounded(double value, double low, double high);

/// The text with each run of blanks, tabs and line ends replaced by one space.
std::string one_line(std::string_view text);

}  // namespace warpscope::ui
