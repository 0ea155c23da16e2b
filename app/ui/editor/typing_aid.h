#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace warpscope::ui {

/// What an editor adds to a keystroke: bytes [begin, end) become `added`; then the cursor and the
/// other end of the selection stand at these bytes.
struct Aid {
    std::size_t begin = 0, end = 0;
    std::string added;
    std::size_t cursor = 0, anchor = 0;
};

/// Behind a newline just typed at the cursor: the line above's indentation, a step more where it
/// ends with an opening brace.
Aid indent_new_line(std::string_view text, std::size_t cursor);

/// Behind a closing brace just typed: a step back where it is its line's first character.
Aid align_brace(std::string_view text, std::size_t cursor);

/// For the tab key: spaces up to the next step; where lines are selected these go a step to the
/// right, or with `back` to the left.
Aid tab_key(std::string_view text, std::size_t cursor, std::size_t anchor, bool back);

/// The word around a byte, or the spaces: begin and end.
struct WordRange {
    std::size_t begin = 0, end = 0;
};
WordRange word_around(std::string_view text, std::size_t at);

}  // namespace warpscope::ui
