#pragma once

#include <string>
#include <string_view>

#include "compute/device/kernel_timings.h"

namespace warpscope::ui {

/// Three significant digits with an SI prefix: "1.75 G", "999", "12.3 k", "0". Values below 0.001
/// are in scientific notation: "3.4e-07".
std::string si(double value);

/// A value with its unit: whole numbers grouped ("25 723 564 731 392"), rates with an SI
/// prefix ("4.38 TB/s", "1.75 G interactions/s"), "41.8 %", "0.0094 ms", "not a number".
std::string quantity(double value, std::string_view unit);

/// At most six characters, for the cells of a tree: "1024", "25.7G", "-0.5", "1e-07".
std::string compact(double value);

/// "4.41", "0.009", "118": three digits or three decimals, without the unit.
std::string milliseconds(double value);

/// "64×64 · 16×16", "32 · 256": dimensions of 1 at the end are left out. "-" where several launches
/// are timed together and have no common configuration.
std::string grid_by_block(const compute::Dim3& grid, const compute::Dim3& block);
std::string dimensions(const compute::Dim3& size);

/// The value of a slider with three significant digits, within [low, high].
std::string rounded(double value, double low, double high);

/// The text with each run of blanks, tabs and line ends replaced by one space.
std::string one_line(std::string_view text);

/// The kernel's rate by its declared work: interactions, else bytes, else flops per second; empty
/// where no work is declared.
std::string rate(const compute::KernelTiming& timing);

}  // namespace warpscope::ui
