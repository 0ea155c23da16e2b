#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace warpscope::compute {

/// Returns the form of a noun that is used with `n`: "block" or "blocks", "pass" or "passes".
std::string noun(std::uint64_t n, std::string_view singular);

/// Returns the number with its noun: "1 block", "3 blocks".
std::string plural(std::uint64_t n, std::string_view singular);

/// The words with a full stop at their end.
std::string sentence(std::string words);

}  // namespace warpscope::compute
