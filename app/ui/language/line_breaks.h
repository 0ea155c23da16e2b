#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace warpscope::ui {

/// The words in lines that fit. Lines break at spaces, and between Chinese characters, which have
/// none between words; a line that holds one piece alone need not fit.
std::string with_line_breaks(std::string_view words,
                             const std::function<bool(const std::string&)>& fits);

}  // namespace warpscope::ui
