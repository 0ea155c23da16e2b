#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>

#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <set>

#include "ui/view_fixture.h"
#include "ui/widgets/glossary.h"

namespace warpscope::ui {
namespace {

class KeyboardTest : public ViewFixture {
  protected:
    KeyboardTest() { show("ripple", {{"size", "64"}}); }
    void shortcut(int key, int modifiers = 0) {
        view_->press(key, modifiers);
        frames(3);
    }
    /// ImGui gets the key, too.
    void press_tab(int modifiers = 0) {
        view_->press(GLFW_KEY_TAB, modifiers);
        press_key(ImGuiKey_Tab);
    }
    /// Presses Tab until the stop has the focus.
    void tab_to(const std::string& stop) {
        for (int i = 0; i < 200 && value("focus") != stop; ++i) press_tab();
        ASSERT_EQ(value("focus"), stop);
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
    press_tab();
    shortcut(GLFW_KEY_SPACE);
    EXPECT_FALSE(stage_->paused());
    press(5, 5);  // a click beside all widgets
    shortcut(GLFW_KEY_SPACE);
    EXPECT_TRUE(stage_->paused());
}

TEST_F(KeyboardTest, TabGoesThroughTheWidgetsOfAllPanelsAndBack) {
    std::vector<std::string> stops;
    do {
        press_tab();
        stops.push_back(value("focus"));
        ASSERT_LT(stops.size(), 200U) << "Tab does not come back to the first stop";
    } while (stops.size() == 1 || stops.back() != stops.front());
    stops.pop_back();
    std::vector<std::string> widgets;  // a word may stand in several panels
    std::ranges::copy_if(stops, std::back_inserter(widgets),
                         [](const std::string& id) { return !id.starts_with("word:"); });
    EXPECT_EQ(std::set(widgets.begin(), widgets.end()).size(), widgets.size());
    EXPECT_GT(stops.size(), widgets.size()) << fmt::format("{}", fmt::join(stops, " "));
    for (const char* id : {"tab.ripple", "language", "keys", "ripple.sync", "ripple.view",
                           "ripple.size", "transport.pause", "dock.timings", "race"})
        EXPECT_EQ(std::ranges::count(stops, id), 1) << id;
    EXPECT_LT(std::ranges::find(stops, "tab.ripple"), std::ranges::find(stops, "ripple.sync"));
    press_tab(GLFW_MOD_SHIFT);
    EXPECT_EQ(value("focus"), stops.back());
    press_tab(GLFW_MOD_SHIFT);
    EXPECT_EQ(value("focus"), stops[stops.size() - 2]);
}

TEST_F(KeyboardTest, SpaceSwitchesTheBarrierThatHasTheFocusAndItsWordIsExplained) {
    tab_to("ripple.sync");
    frames(60);
    EXPECT_NE(value("tooltip").find(meaning_of("__syncthreads")), std::string::npos)
        << value("tooltip");
    press_key(ImGuiKey_Space);
    settle();
    EXPECT_EQ(chosen("sync"), "off");
    EXPECT_EQ(value("focus"), "ripple.sync");
}

TEST_F(KeyboardTest, AWordOfASentenceIsExplainedWhileItHasTheFocus) {
    for (const Language one : {Language::english, Language::chinese, Language::russian}) {
        set_language(one);
        view_->ui().language = one;
        view_->ui().fonts = apply_theme(1, 1);
        gui_.fonts_changed();
        frames(3);
        tab_to("word:barrier");
        frames(60);
        EXPECT_TRUE(value("tooltip").starts_with(meaning_of("barrier"))) << value("tooltip");
        press(5, 5);
    }
    set_language(Language::english);
}

TEST_F(KeyboardTest, F1ExplainsTheLineThatRunsNextInTheMicroscopeUntilAStep) {
    shortcut(GLFW_KEY_M);
    ASSERT_TRUE(view_->microscope().ready());
    const int barrier = stage_->documents()["ripple"].barriers().front().line;
    const auto next_line = [&] {
        const emulator::Stepper& stepper = view_->microscope().stepper();
        const auto& splits = stepper.warp(view_->microscope().acting_warp()).splits;
        return splits.empty() ? 0 : stepper.kernel().lines[splits.front().pc].source.line;
    };
    for (int i = 0; i < 200 && int(next_line()) != barrier; ++i) shortcut(GLFW_KEY_RIGHT);
    shortcut(GLFW_KEY_F1);
    EXPECT_EQ(value("tooltip"), explanation_of("barrier"));
    shortcut(GLFW_KEY_F2);
    EXPECT_EQ(value("words:barrier"), "on");
    shortcut(GLFW_KEY_ESCAPE);
    EXPECT_EQ(value("words:barrier"), "(no such widget)");
    shortcut(GLFW_KEY_ESCAPE);
    EXPECT_EQ(value("tooltip"), "(no such widget)");
    ASSERT_TRUE(view_->microscope().is_open()) << "Esc closes one thing at a time";
    shortcut(GLFW_KEY_F1);
    shortcut(GLFW_KEY_RIGHT);
    EXPECT_EQ(value("tooltip"), "(no such widget)");
}

TEST_F(KeyboardTest, TabGoesThroughTheWordsOfTheMicroscopesSource) {
    shortcut(GLFW_KEY_M);
    ASSERT_TRUE(view_->microscope().ready());
    shortcut(GLFW_KEY_F1);
    EXPECT_NE(value("tooltip"), "(no such widget)");
    tab_to("word:shared memory");
    frames(60);
    EXPECT_EQ(value("tooltip"), explanation_of("shared memory"));
}

TEST_F(KeyboardTest, EscTakesTheFocusAwayFirst) {
    shortcut(GLFW_KEY_F11);
    ASSERT_TRUE(view_->options().presentation);
    press_tab();
    EXPECT_NE(value("focus"), "(no such widget)");
    shortcut(GLFW_KEY_ESCAPE);
    EXPECT_EQ(value("focus"), "(no such widget)");
    EXPECT_TRUE(view_->options().presentation);
    shortcut(GLFW_KEY_ESCAPE);
    EXPECT_FALSE(view_->options().presentation);
}

TEST_F(KeyboardTest, TabStaysInThePageThatLiesOverThePanels) {
    shortcut(GLFW_KEY_F2);
    for (int i = 0; i < 40; ++i) {
        press_tab();
        EXPECT_TRUE(value("focus").starts_with("word")) << value("focus");
    }
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
