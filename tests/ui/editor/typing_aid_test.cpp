#include "ui/editor/typing_aid.h"

#include <gtest/gtest.h>

namespace warpscope::ui {
namespace {

/// `|` is the cursor, `^` the selection's other end, in the text and in what comes of it.
std::string after(std::string text, Aid (*aid)(std::string_view, std::size_t)) {
    const std::size_t cursor = text.find('|');
    text.erase(cursor, 1);
    const Aid made = aid(text, cursor);
    text.replace(made.begin, made.end - made.begin, made.added);
    return text.insert(made.cursor, "|");
}

/// What comes of it where `edit` gets the selection.
template <class Edit>
std::string lines(std::string text, Edit edit) {
    std::size_t cursor = text.find('|'), anchor = text.find('^');
    if (anchor == std::string::npos) anchor = cursor;
    const bool both = cursor != anchor;
    text.erase(std::max(cursor, anchor), 1);
    if (both) text.erase(std::min(cursor, anchor), 1);
    (cursor > anchor ? cursor : anchor) -= both ? 1 : 0;
    const Aid made = edit(text, cursor, anchor);
    text.replace(made.begin, made.end - made.begin, made.added);
    if (made.cursor == made.anchor) return text.insert(made.cursor, "|");
    text.insert(made.cursor, "|");
    return text.insert(made.anchor, "^");
}

std::string tab(const std::string& text, bool back = false) {
    return lines(text, [back](std::string_view words, std::size_t cursor, std::size_t anchor) {
        return tab_key(words, cursor, anchor, back);
    });
}

TEST(TypingAidTest, LinesAreCommentedOutAtTheirLeastIndentationAndInAgain) {
    EXPECT_EQ(lines("a|b", toggle_comment), "// ab|");
    EXPECT_EQ(lines("  ^a\n\n    b|\nc", toggle_comment), "  // a\n\n  //   b|\nc");
    EXPECT_EQ(lines("  // ^a\n\n  //   b|\nc", toggle_comment), "  a\n\n    b|\nc");
    EXPECT_EQ(lines("^//a\nb|", toggle_comment), "// //a\n// b|") << "one of them is none";
    EXPECT_EQ(lines("//a|", toggle_comment), "a|");
    EXPECT_EQ(lines("|", toggle_comment), "|");
    EXPECT_EQ(lines("^a\n|b", toggle_comment), "// a|\nb") << "a selection ends before b";
}

TEST(TypingAidTest, LinesMoveAboveTheLineBeforeThemAndBelowTheLineAfterThem) {
    EXPECT_EQ(lines("a\nb|b\nc", move_lines_up), "b|b\na\nc");
    EXPECT_EQ(lines("a\nb|b\nc", move_lines_down), "a\nc\nb|b");
    EXPECT_EQ(lines("a\n^b\nc|\nd", move_lines_up), "^b\nc|\na\nd");
    EXPECT_EQ(lines("a\n^b\nc|\nd", move_lines_down), "a\nd\n^b\nc|");
    EXPECT_EQ(lines("a|\nb", move_lines_up), "a|\nb");
    EXPECT_EQ(lines("a\n|b", move_lines_down), "a\n|b");
    EXPECT_EQ(lines("a|\n", move_lines_down), "\na|") << "the last line is empty";
}

TEST(TypingAidTest, LinesAreDeletedWithTheirNewline) {
    EXPECT_EQ(lines("a\nb|b\nc", delete_lines), "a\n|c");
    EXPECT_EQ(lines("a\nb|", delete_lines), "a|");
    EXPECT_EQ(lines("^a\nb|\nc", delete_lines), "|c");
    EXPECT_EQ(lines("a|", delete_lines), "|");
}

TEST(TypingAidTest, ANewLineGetsTheIndentationOfTheLineAbove) {
    EXPECT_EQ(after("    a;\n|b", indent_new_line), "    a;\n    |b");
    EXPECT_EQ(after("\tif (x) {\n|", indent_new_line), "\tif (x) {\n\t    |");
    EXPECT_EQ(after("a\n|", indent_new_line), "a\n|");
    EXPECT_EQ(after("\n|", indent_new_line), "\n|");
    EXPECT_EQ(after("  {  \n|", indent_new_line), "  {  \n      |");
}

TEST(TypingAidTest, ATabBecomesSpacesUpToTheNextMultipleOfFour) {
    EXPECT_EQ(expand_tabs("\ta\tb\n\t\tc"), "    a   b\n        c");
    EXPECT_EQ(expand_tabs("abc\td\nabcd\te"), "abc d\nabcd    e");
    EXPECT_EQ(expand_tabs("\u00e9\tx"), "\u00e9   x");
    EXPECT_EQ(expand_tabs(""), "");
}

TEST(TypingAidTest, AClosingBraceThatBeginsItsLineMovesFourColumnsLeft) {
    EXPECT_EQ(after("{\n        }|", align_brace), "{\n    }|");
    EXPECT_EQ(after("{\n  }|", align_brace), "{\n}|");
    EXPECT_EQ(after("    a }|", align_brace), "    a }|");
    EXPECT_EQ(after("\t}|", align_brace), "}|");
}

TEST(TypingAidTest, TabInsertsSpacesUpToAMultipleOfFourAndBackRemovesThem) {
    EXPECT_EQ(tab("|a"), "    |a");
    EXPECT_EQ(tab("ab|c"), "ab  |c");
    EXPECT_EQ(tab("x\n  ü|"), "x\n  ü |");
    EXPECT_EQ(tab("a ^bc| d"), "a   | d");
    EXPECT_EQ(tab("      a|", true), "  a|");
    EXPECT_EQ(tab("a|", true), "a|");
}

TEST(TypingAidTest, SelectedLinesMoveTogether) {
    EXPECT_EQ(tab("a\n^b\n\nc|\nd"), "a\n^    b\n\n    c|\nd");
    EXPECT_EQ(tab("^    b\n  c\n|d", true), "^b\nc|\nd");
    EXPECT_EQ(tab("\t|b\n\tc^", true), "^b\nc|");
}

TEST(TypingAidTest, TheWordAroundAByteIsFound) {
    const auto word = [](std::string_view text, std::size_t at) {
        const WordRange range = word_around(text, at);
        return std::string(text.substr(range.begin, range.end - range.begin));
    };
    EXPECT_EQ(word("tile[threadIdx.x];", 7), "threadIdx");
    EXPECT_EQ(word("tile[threadIdx.x];", 0), "tile");
    EXPECT_EQ(word("a  += b", 3), "+=");
    EXPECT_EQ(word("a   b", 2), "   ");
    EXPECT_EQ(word("a\nb", 1), "");
    EXPECT_EQ(word("", 5), "");
}

}  // namespace
}  // namespace warpscope::ui
