#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "compute/device/kernel_timings.h"

/// Numbers as people read them, in the window, in the text of runs without one, and in sentences.

namespace warpscope::compute {

/// Formats a whole number in groups of three digits: "25 723 564 731 392".
std::string grouped(double value);

/// Formats three significant digits with an SI prefix: "1.75 G", "999", "12.3 k", "0". Values below
/// 0.001 are in scientific notation: "3.4e-07".
std::string si(double value);

/// Formats a count: every digit below 100 000, otherwise three: "99 999", "1.05 M".
std::string count(double value);

/// Formats a value with its unit: whole numbers grouped ("25 723 564 731 392"), rates with an SI
/// prefix ("4.38 TB/s", "1.75 G interactions/s"), "41.8 %", "0.0094 ms", "not a number".
std::string quantity(double value, std::string_view unit);

/// Formats a number in at most six characters, for a cell: "1024", "25.7G", "1e-07".
std::string compact(double value);

/// Formats a time with three digits or three decimals, without the unit: "4.41", "0.009", "118".
std::string milliseconds(double value);

/// Formats `value` as a multiple of `first`: "×0.25", "×12.3". Empty where `first` is 0.
std::string multiple(double value, double first);

/// Formats a relative error: "3.4e-07", "0".
std::string relative_error(double value);

/// Formats the kernel's rate by its declared work: interactions, else bytes, else flops per second;
/// empty where no work is declared.
std::string rate(const KernelTiming& timing);

/// Returns the form of a noun that is used with `n`: "block" or "blocks", "pass" or "passes".
std::string noun(std::uint64_t n, std::string_view singular);

/// Returns the number with its noun: "1 block", "3 blocks".
std::string plural(std::uint64_t n, std::string_view singular);

/// The words with a full stop at their end.
std::string sentence(std::string words);

}  // namespace warpscope::compute
