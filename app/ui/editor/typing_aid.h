#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace warpscope::ui {

/// A change that the editor makes after a key press: bytes [begin, end) become `added`, and the
/// selection then is between the bytes `cursor` and `anchor`.
struct Aid {
    std::size_t begin = 0, end = 0;
    std::string added;
    std::size_t cursor = 0, anchor = 0;
};

/// Indents a new line, whose newline was just typed before the cursor, like the line above, and
/// four columns more where that line ends with an opening brace.
Aid indent_new_line(std::string_view text, std::size_t cursor);

/// Takes back up to four columns of indentation before a closing brace that was just typed, where
/// it is the first character of its line.
Aid align_brace(std::string_view text, std::size_t cursor);

/// Carries out the tab key: inserts spaces up to the next column that is a multiple of four. Where
/// lines are selected, it moves them four columns to the right, or with `back` to the left.
Aid tab_key(std::string_view text, std::size_t cursor, std::size_t anchor, bool back);

/// Puts `//` before the lines of the selection, or takes it away where each of them has it. Lines
/// of blanks stay.
Aid toggle_comment(std::string_view text, std::size_t cursor, std::size_t anchor);

/// Moves the lines of the selection above the line before them, or below the line after them.
Aid move_lines_up(std::string_view text, std::size_t cursor, std::size_t anchor);
Aid move_lines_down(std::string_view text, std::size_t cursor, std::size_t anchor);

/// Deletes the lines of the selection.
Aid delete_lines(std::string_view text, std::size_t cursor, std::size_t anchor);

/// The text with each tab replaced by spaces up to the next column that is a multiple of four.
std::string expand_tabs(std::string_view text);

/// The bytes [begin, end) of the word around a byte, or of the spaces.
struct WordRange {
    std::size_t begin = 0, end = 0;
};
WordRange word_around(std::string_view text, std::size_t at);

}  // namespace warpscope::ui
