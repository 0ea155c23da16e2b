#pragma once

#include <algorithm>
#include <string_view>

namespace warpscope::files {

/// Takes the first line off a text. Returns it without its line end.
inline std::string_view take_line(std::string_view& text) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    return line;
}

}  // namespace warpscope::files
