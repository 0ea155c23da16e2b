#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "compute/device/enum_words.h"
#include "emulator/judge.h"

namespace warpscope::jobs {

/// Reads a list such as "race,memory"; "leaks" includes "memory". Throws UsageError that names an
/// unknown word and lists the known ones.
emulator::CheckChoice parse_checks(std::string_view text);

}  // namespace warpscope::jobs

template <>
inline constexpr std::array warpscope::compute::words_of<warpscope::emulator::Severity>{
    Word<emulator::Severity>{emulator::Severity::warning, "warning", "Warnings"},
    Word<emulator::Severity>{emulator::Severity::error, "error", "Errors"},
};
