#include "ui/documents/kernel_documents.h"

#include <gtest/gtest.h>

#include <random>

namespace warpscope::ui {
namespace {

/// Types at the cursor, a character at a time, as the text field tells of it.
void type(KernelDocument& editor, const std::string& words) {
    for (const char c : words) {
        std::string text = editor.text();
        const std::size_t at = editor.cursor();
        text.insert(at, 1, c);
        editor.typed(text, at + 1);
    }
}

void backspace(KernelDocument& editor) {
    std::string text = editor.text();
    const std::size_t at = editor.cursor() - 1;
    editor.typed(text.erase(at, 1), at);
}

TEST(KernelDocumentTest, UndoTakesBackAWordThatWasTypedWithoutAPause) {
    KernelDocument editor("int a;\n");
    editor.set_cursor(4);
    type(editor, "long b");
    EXPECT_EQ(editor.text(), "int long ba;\n");
    editor.undo();
    EXPECT_EQ(editor.text(), "int long a;\n");  // words are steps
    EXPECT_EQ(editor.cursor(), 9U);
    editor.undo();
    EXPECT_EQ(editor.text(), "int a;\n");
    EXPECT_EQ(editor.cursor(), 4U);
    EXPECT_FALSE(editor.can_undo());
    editor.redo();
    editor.redo();
    EXPECT_EQ(editor.text(), "int long ba;\n");
    EXPECT_FALSE(editor.can_redo());
}

TEST(KernelDocumentTest, TypingElsewhereIsAnotherStep) {
    KernelDocument editor("one two");
    editor.set_cursor(3);
    type(editor, "xx");
    editor.set_cursor(editor.text().size());
    type(editor, "yy");
    editor.undo();
    EXPECT_EQ(editor.text(), "onexx two");
}

TEST(KernelDocumentTest, BackspacesJoinIntoOneStepAndUndoRestoresThemInPlace) {
    KernelDocument editor("aaaa");
    editor.set_cursor(2);
    type(editor, "a");
    backspace(editor);
    backspace(editor);
    EXPECT_EQ(editor.text(), "aaa");
    EXPECT_EQ(editor.cursor(), 1U);
    editor.undo();
    EXPECT_EQ(editor.text(), "aaaaa");
    EXPECT_EQ(editor.cursor(), 3U);
    editor.undo();
    EXPECT_EQ(editor.text(), "aaaa");
    EXPECT_EQ(editor.cursor(), 2U);
}

TEST(KernelDocumentTest, AChangeAfterAnUndoDropsTheStepsToRedo) {
    KernelDocument editor("a");
    editor.replace("b");
    editor.undo();
    editor.replace("c");
    EXPECT_FALSE(editor.can_redo());
    editor.undo();
    EXPECT_EQ(editor.text(), "a");
}

TEST(KernelDocumentTest, TogglingABarrierAndRevertingAreStepsOfTheirOwn) {
    const std::string shipped = "tile[i] = x;\n__syncthreads();\ny = tile[15 - i];\n";
    KernelDocument editor(shipped);
    EXPECT_EQ(editor.barriers(), (std::vector<BarrierLine>{{2, BarrierState::in}}));
    EXPECT_FALSE(editor.toggle_barriers(1));
    EXPECT_FALSE(editor.toggle_barriers(0));
    EXPECT_FALSE(editor.toggle_barriers(99));
    EXPECT_FALSE(editor.can_undo());
    editor.set_cursor(shipped.find("y ="));
    EXPECT_EQ(editor.line_of_change(false), 0);
    ASSERT_TRUE(editor.toggle_barriers(2));
    EXPECT_EQ(editor.line_of_change(false), 2);
    EXPECT_EQ(editor.line_of_change(true), 0);
    EXPECT_EQ(editor.text(), "tile[i] = x;\n/*__syncthreads()*/;\ny = tile[15 - i];\n");
    EXPECT_EQ(editor.cursor(), editor.text().find("y ="));
    EXPECT_EQ(editor.barriers(), (std::vector<BarrierLine>{{2, BarrierState::out}}));
    type(editor, "z");
    editor.replace(shipped);
    EXPECT_EQ(editor.text(), shipped);
    editor.undo();
    editor.undo();
    EXPECT_EQ(editor.barriers().front().state, BarrierState::out);
    editor.undo();
    EXPECT_EQ(editor.text(), shipped);
}

TEST(KernelDocumentTest, ALineWithSomeBarriersCommentedOutIsMixed) {
    const KernelDocument editor("/*__syncthreads()*/; f(); __syncthreads();");
    EXPECT_EQ(editor.barriers(), (std::vector<BarrierLine>{{1, BarrierState::mixed}}));
}

TEST(KernelDocumentTest, AnUnclosedCommentHidesTheBarriersBelow) {
    KernelDocument editor("a();\n__syncthreads();\nb(); /* c */\n__syncthreads();\n");
    EXPECT_EQ(editor.barriers().size(), 2U);
    editor.set_cursor(0);
    type(editor, "/*");
    EXPECT_EQ(editor.barriers(), (std::vector<BarrierLine>{{4, BarrierState::in}}));
    editor.undo();
    EXPECT_EQ(editor.barriers().size(), 2U);
}

TEST(KernelLinesTest, AreAfterManyChangesAsReadFromTheWholeText) {
    std::mt19937 random(7);
    const std::string parts[] = {"/*", "*/", "\n", "a", "\n\n//", "\"", "\t", "ü", "x = 1;\n"};
    std::string text = "first\n/* second\n*/ third\n";
    KernelLines lines(text);
    for (int i = 0; i < 3000; ++i) {
        const std::size_t at = random() % (text.size() + 1);
        const std::size_t most = random() % 4 ? 1 : 9;  // mostly the text grows
        const std::size_t removed = random() % (std::min(text.size() - at, most) + 1);
        const std::string& added = parts[random() % 9];
        text.replace(at, removed, added);
        lines.change(text, at, removed, added.size());
        const KernelLines fresh(text);
        ASSERT_EQ(lines.count(), fresh.count()) << i;
        ASSERT_EQ(lines.columns(), fresh.columns()) << i;
        for (int row = 0; row < lines.count(); ++row) {
            ASSERT_EQ(lines.begin(row), fresh.begin(row)) << i << ", row " << row;
            ASSERT_EQ(lines.in_comment(row), fresh.in_comment(row)) << i << ", row " << row;
        }
    }
    EXPECT_GT(lines.count(), 100);
}

TEST(KernelLinesTest, CountsLinesColumnsAndBytes) {
    const std::string text = "ab\n\tü = 1;\r\n\nend";
    const KernelLines lines(text);
    EXPECT_EQ(lines.count(), 4);
    EXPECT_EQ(lines.columns(), 4 + 6);
    EXPECT_EQ(lines.line(text, 2), "");
    EXPECT_EQ(lines.line(text, 3), "end");
    EXPECT_EQ(lines.row(2), 0);
    EXPECT_EQ(lines.row(3), 1);
    EXPECT_EQ(lines.row(text.size()), 3);
    EXPECT_EQ(KernelLines("a\n").count(), 2);
    EXPECT_EQ(KernelLines("").count(), 1);
    EXPECT_EQ(byte_at("\tüb", 1.9), 0U);  // the nearer side of the tab
    EXPECT_EQ(byte_at("\tüb", 4.4), 1U);
    EXPECT_EQ(byte_at("\tüb", 4.6), 3U);
    EXPECT_EQ(byte_at("\tüb", 99), 4U);
}

TEST(KernelDocumentTest, AFollowedTextHasNoStepsOfTheTextBefore) {
    KernelDocument editor("a long text");
    editor.set_cursor(11);
    type(editor, "s");
    editor.undo();
    editor.redo();
    editor.follow(std::make_shared<const std::string>("b"));
    EXPECT_FALSE(editor.can_undo());
    editor.undo();
    EXPECT_EQ(editor.text(), "b");
}

}  // namespace
}  // namespace warpscope::ui
