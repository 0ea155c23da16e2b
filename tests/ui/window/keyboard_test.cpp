#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>

#include "ui/view_fixture.h"

namespace warpscope::ui {
namespace {

class KeyboardTest : public ViewFixture {
  protected:
    KeyboardTest() { show("ripple", {{"size", "64"}}); }
    void shortcut(int key, int modifiers = 0) {
        view_->press(key, modifiers);
        frames(3);
    }
    std::string chosen(const std::string& id) { return stage_->parameters().find(id).text(); }
};

TEST_F(KeyboardTest, SSwitchesTheBarrierAndWShowsTheNextView) {
    EXPECT_EQ(chosen("sync"), "on");
    shortcut(GLFW_KEY_S);
    EXPECT_EQ(chosen("sync"), "off");
    shortcut(GLFW_KEY_S);
    EXPECT_EQ(chosen("sync"), "on");
    EXPECT_EQ(chosen("view"), "picture");
    shortcut(GLFW_KEY_W);
    EXPECT_EQ(chosen("view"), "wrong");
}

TEST_F(KeyboardTest, CtrlZUndoesParametersUnlessAFieldHasTheKeyboard) {
    shortcut(GLFW_KEY_S);
    type("ripple.size", "128");
    ASSERT_EQ(chosen("size"), "128");
    click("ripple.size");
    ASSERT_TRUE(ImGui::GetIO().WantTextInput);
    shortcut(GLFW_KEY_Z, GLFW_MOD_CONTROL);
    EXPECT_EQ(chosen("size"), "128");
    press(5, 5);
    shortcut(GLFW_KEY_Z, GLFW_MOD_CONTROL);
    EXPECT_EQ(chosen("size"), "64");
    shortcut(GLFW_KEY_Z, GLFW_MOD_CONTROL);
    EXPECT_EQ(chosen("sync"), "on");
    shortcut(GLFW_KEY_Z, GLFW_MOD_CONTROL | GLFW_MOD_SHIFT);
    EXPECT_EQ(chosen("sync"), "off");
}

TEST_F(KeyboardTest, SpaceIsForTheWidgetThatTabHasChosenAndForPauseOtherwise) {
    ASSERT_TRUE(stage_->paused());
    shortcut(GLFW_KEY_SPACE);
    EXPECT_FALSE(stage_->paused());
    shortcut(GLFW_KEY_TAB);
    shortcut(GLFW_KEY_SPACE);
    EXPECT_FALSE(stage_->paused());
    press(5, 5);  // a click beside all widgets
    shortcut(GLFW_KEY_SPACE);
    EXPECT_TRUE(stage_->paused());
}

TEST_F(KeyboardTest, ArrowsGoThroughAnOpenListFromTheChosenRowAndEnterChooses) {
    click("ripple.view");
    press_enter();
    EXPECT_EQ(chosen("view"), "picture") << "the list begins at the row that is chosen";
    EXPECT_EQ(view_->widgets().find("ripple.view:picture"), nullptr) << "the list is closed";
    for (const char* next : {"wrong", "stale"}) {
        click("ripple.view");
        press_key(ImGuiKey_DownArrow);
        press_enter();
        EXPECT_EQ(chosen("view"), next);
    }
}

TEST_F(KeyboardTest, EscLeavesTheMicroscopeOpenWhileAListIsOpen) {
    shortcut(GLFW_KEY_M);
    ASSERT_TRUE(view_->microscope().is_open());
    click("microscope.turns");
    shortcut(GLFW_KEY_ESCAPE);
    EXPECT_TRUE(view_->microscope().is_open());
}

}  // namespace
}  // namespace warpscope::ui
