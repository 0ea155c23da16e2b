#include "ui/editor/editor_fixture.h"

namespace warpscope::ui {
namespace {

constexpr int control_key = 2, shift_key = 1;  // GLFW_MOD_…
constexpr int f3 = 292;

/// Searches in the editor's text and in the microscope's listing.
class EditorFindTest : public EditorTypingTest {
  protected:
    void press_shortcut(int key, int modifiers) {
        view_->press(key, modifiers);
        frames(4);
    }
    void find(const std::string& words) {
        press_shortcut('F', control_key);
        put(words);
    }
};

TEST_F(EditorFindTest, CtrlFCountsTheMatchesAndEnterGoesToTheNext) {
    document().replace("int a; // Tile\nint tile;\nfloat b;\nTILE tile\n");
    frames(3);
    find("tile");
    EXPECT_EQ(value("editor.find.count"), "1 of 4");
    press_enter();
    EXPECT_EQ(value("editor.find.count"), "2 of 4");
    press_shortcut(f3, 0);
    press_shortcut(f3, 0);
    EXPECT_EQ(value("editor.find.count"), "4 of 4");
    press_shortcut(f3, 0);
    EXPECT_EQ(value("editor.find.count"), "1 of 4") << "round the end";
    press_shortcut(f3, shift_key);
    EXPECT_EQ(value("editor.find.count"), "4 of 4");
    put("x");
    EXPECT_EQ(value("editor.find"), "tilex");
    EXPECT_EQ(value("editor.find.count"), "no match");
    EXPECT_EQ(text(), "int a; // Tile\nint tile;\nfloat b;\nTILE tile\n");
}

TEST_F(EditorFindTest, EscClosesTheBarFirst) {
    find("value");
    ASSERT_NE(value("editor.find"), "(no such widget)");
    press_key(ImGuiKey_Escape);
    EXPECT_EQ(value("editor.find"), "(no such widget)");
    const std::size_t cursor = text().find("value");
    EXPECT_EQ(document().cursor(), cursor) << "at the match";
    press_shortcut('F', control_key);
    press(5, 5);  // takes the keyboard from the bar
    ASSERT_NE(value("editor.find"), "(no such widget)");
    constexpr int escape = 256;
    press_shortcut(escape, 0);
    EXPECT_EQ(value("editor.find"), "(no such widget)");
    EXPECT_NE(value("editor.text"), "(no such widget)") << "the editor stays open";
}

TEST_F(EditorFindTest, TheMatchStaysInSightAfterEsc) {
    find("__syncthreads");
    press_key(ImGuiKey_Escape);
    frames(5);
    const int row = document().lines().row(document().cursor());
    const Widget* const line = view_->widgets().find("editor.line." + std::to_string(row + 1));
    ASSERT_NE(line, nullptr);
    EXPECT_TRUE(line->visible);
}

TEST_F(EditorFindTest, NoKeyIsAShortcutOnceTheBarIsOpen) {
    const std::string view = stage_->parameters().find("view").text();
    view_->press('F', control_key);
    frames();
    for (int i = 0; i < 6; ++i) {
        view_->press('W', 0);  // the next view
        frames();
    }
    EXPECT_EQ(stage_->parameters().find("view").text(), view);
}

TEST_F(EditorFindTest, CtrlGPutsTheCursorIntoALine) {
    press_shortcut('G', control_key);
    put("12");
    press_enter();
    EXPECT_EQ(value("editor.find.line"), "(no such widget)");
    EXPECT_EQ(value("editor.text"), "12:1");
    put("x");
    EXPECT_EQ(row(12).front(), 'x');
}

TEST_F(EditorFindTest, AMatchFarDownComesIntoSight) {
    std::string long_text(300, '\n');
    document().replace(long_text + "needle" + long_text);
    frames(3);
    EXPECT_EQ(line(301), "(no such widget)");
    find("needle");
    EXPECT_EQ(line(301), "needle");
}

TEST_F(EditorFindTest, TheMicroscopesSourceIsSearchedWhileItIsOpen) {
    click("transport.microscope");
    settle();
    ASSERT_TRUE(view_->microscope().is_open());
    find("__syncthreads();");
    EXPECT_EQ(value("microscope.find.count"), "1 of 1");
    constexpr int escape = 256;
    press(5, 5);
    press_shortcut(escape, 0);
    EXPECT_EQ(value("microscope.find"), "(no such widget)");
    EXPECT_TRUE(view_->microscope().is_open());
}

TEST_F(EditorFindTest, TheMarkOfABarrierThatIsSwitchedOffInThePanelIsHollow) {
    const std::string mark = "editor.barrier." + std::to_string(barrier_line());
    set("sync", "off");
    EXPECT_EQ(value(mark), "off");
    click(mark);
    EXPECT_EQ(stage_->parameters().find("sync").text(), "on");
    EXPECT_EQ(value(mark), "in");
    EXPECT_FALSE(document().edited());
}

TEST_F(EditorFindTest, UndoIsForTheEditorWhileItHasTheFocusAndElseForTheParameters) {
    const std::string mark = "editor.barrier." + std::to_string(barrier_line());
    click("ripple.sync");
    click("ripple.sync");
    ASSERT_EQ(value(mark), "in");
    click(mark);
    ASSERT_EQ(value(mark), "out");
    view_->press('Z', control_key);
    frames(3);
    EXPECT_EQ(value(mark), "in");
    EXPECT_EQ(stage_->parameters().find("sync").text(), "on");
    press(5, 5);  // beside all widgets
    view_->press('Z', control_key);
    frames(3);
    EXPECT_EQ(stage_->parameters().find("sync").text(), "off");
}

}  // namespace
}  // namespace warpscope::ui
