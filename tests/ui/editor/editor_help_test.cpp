#include "ui/editor/editor_fixture.h"
#include "ui/widgets/glossary.h"

namespace warpscope::ui {
namespace {

constexpr int key_f1 = 290, key_f2 = 291, key_escape = 256;

/// What F1 says of the word at the cursor.
class EditorHelpTest : public EditorTypingTest {
  protected:
    void shortcut(int key) {
        view_->press(key, 0);
        frames(3);
    }
    void put_text(const std::string& words) {
        document().replace(words);
        frames(3);
        end_of(1);
    }
};

TEST_F(EditorHelpTest, F1ExplainsTheWordThatTheCursorTouches) {
    put_text("__syncthreads(); atomicAdd\nint i;\n");
    shortcut(key_f1);
    EXPECT_EQ(value("tooltip"), explanation_of("atomic operation")) << "behind its last letter";
    EXPECT_EQ(value("words:kernel"), "(no such widget)");
    press_key(ImGuiKey_Home);
    EXPECT_EQ(value("tooltip"), "(no such widget)") << "the cursor has moved";
    shortcut(key_f1);
    EXPECT_EQ(value("tooltip"), explanation_of("barrier"));
    const Widget tip = *view_->widgets().find("tooltip");
    const Widget line = *view_->widgets().find("editor.line.1");
    EXPECT_NEAR(tip.y, line.y + line.h, 1) << "below the word";
    shortcut(key_f1);
    EXPECT_EQ(value("tooltip"), "(no such widget)");
    EXPECT_EQ(text(), "__syncthreads(); atomicAdd\nint i;\n");
}

TEST_F(EditorHelpTest, F1SaysThatAWordHasNoExplanation) {
    put_text("int i;\n");
    shortcut(key_f1);
    EXPECT_EQ(value("tooltip"), "No word here is explained. F2 shows the words that are.");
    press_key(ImGuiKey_Escape);
    EXPECT_EQ(value("tooltip"), "(no such widget)");
}

TEST_F(EditorHelpTest, F2OpensTheWordsAtTheOneOfTheCursor) {
    put_text("__shfl_down_sync\n");
    shortcut(key_f2);
    EXPECT_EQ(value("words:warp shuffle"), "on");
    EXPECT_TRUE(view_->widgets().find("words:warp shuffle")->visible);
}

TEST_F(EditorHelpTest, F1ListsTheKeysAfterAClickOutsideOfTheEditor) {
    put_text("__syncthreads\n");
    click("dock.timings");
    shortcut(key_f1);
    EXPECT_EQ(value("tooltip"), "(no such widget)");
    EXPECT_TRUE(view_->is_covered()) << "by the list of keys";
    shortcut(key_escape);
    EXPECT_FALSE(view_->is_covered());
}

TEST_F(EditorPanelTest, ATextThatCannotBeEditedIsExplainedToo) {
    ASSERT_NE(stage_->read_only(), "");
    const int line = barrier_line();
    click("editor.line." + std::to_string(line));
    press_key(ImGuiKey_End);
    press_key(ImGuiKey_Home);
    for (std::size_t i = 0; i < this->line(line).find("__syncthreads") + 1; ++i)
        press_key(ImGuiKey_RightArrow);
    view_->press(key_f1, 0);
    frames(3);
    EXPECT_EQ(value("tooltip"), explanation_of("barrier")) << value("editor.text");
}

}  // namespace
}  // namespace warpscope::ui
