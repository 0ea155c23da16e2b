#pragma once

#include <algorithm>
#include <string>
#include <string_view>

namespace warpscope::files {

/// Takes the first line off a text. Returns it without its line end.
inline std::string_view take_line(std::string_view& text) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    return line;
}

/// The text without the blanks at its begin and its end.
inline std::string_view trimmed(std::string_view text, std::string_view blanks = " \t\r\f\v") {
    const std::size_t first = text.find_first_not_of(blanks);
    if (first == text.npos) return {};
    return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

/// The text with small letters in place of A to Z.
inline std::string lower_case(std::string_view text) {
    std::string lower(text);
    for (char& c : lower)
        if (c >= 'A' && c <= 'Z') c = char(c - 'A' + 'a');
    return lower;
}

/// Whether a character is one of 0 to 9, in every locale.
inline bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

}  // namespace warpscope::files
