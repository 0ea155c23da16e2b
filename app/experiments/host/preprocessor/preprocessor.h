#pragma once

#include <string>
#include <string_view>

namespace warpscope::experiments {

/// The text with spaces in place of what a compiler of the host leaves out, as far as the
/// conditions of #if and #ifdef are known. Lines keep their numbers.
std::string without_inactive_branches(std::string_view source);

/// The text with what its macros stand for, where these launch kernels. Lines keep their numbers.
std::string with_launching_macros(std::string_view source);

}  // namespace warpscope::experiments
