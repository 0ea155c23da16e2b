#include "ui/window/window_view.h"

#include <gtest/gtest.h>

#include "gl/context.h"
#include "gl/texture.h"
#include "ui/fake_experiment.h"
#include "ui/view_fixture.h"
#include "ui/window/gui.h"

namespace warpscope::ui {
namespace {

/// Drives the interface with a mouse and a keyboard of its own, as the window's loop does.
class WindowViewTest : public testing::Test {
  protected:
    WindowViewTest() { frames(3); }

    void frames(int count = 1) {
        for (int i = 0; i < count; ++i) {
            view_.run_requests();
            view_.place({width, height});
            stage_.advance(view_.picture_size());
            gui_.begin_frame(int(width), int(height));
            view_.draw({width, height});
            framebuffer_.bind();
            gui_.render(int(width), int(height));
        }
    }
    void move(double x, double y) {
#if IMGUI_VERSION_NUM >= 18700
        ImGui::GetIO().AddMousePosEvent(float(x), float(y));
#else
        ImGui::GetIO().MousePos = {float(x), float(y)};
#endif
        frames();
    }
    void button(bool down) {
#if IMGUI_VERSION_NUM >= 18700
        ImGui::GetIO().AddMouseButtonEvent(0, down);
#else
        ImGui::GetIO().MouseDown[0] = down;
#endif
        frames(2);
    }
    void press_enter() {
#if IMGUI_VERSION_NUM >= 18700
        ImGui::GetIO().AddKeyEvent(ImGuiKey_Enter, true);
        frames();
        ImGui::GetIO().AddKeyEvent(ImGuiKey_Enter, false);
#else
        ImGui::GetIO().KeyMap[ImGuiKey_Enter] = 1;
        ImGui::GetIO().KeysDown[1] = true;
        frames();
        ImGui::GetIO().KeysDown[1] = false;
#endif
        frames();
    }
    void click(const std::string& id) {
        const Widget* widget = view_.widgets().find(id);
        ASSERT_NE(widget, nullptr) << id;
        ASSERT_TRUE(widget->visible) << id;
        move(widget->x + widget->w / 2, widget->y + widget->h / 2);
        button(true);
        button(false);
        frames(3);
    }
    void type(const std::string& id, const std::string& text) {
        click(id);
        for (const char c : text) ImGui::GetIO().AddInputCharacter(unsigned(c));
        frames(int(text.size()) + 2);
    }
    void set(const std::string& id, const std::string& text) {
        const experiments::Assignment one{id, text};
        ASSERT_TRUE(stage_.assign({&one, 1}));
        frames(2);
    }
    std::string value(const std::string& id) {
        return experiment_.parameters().find(id).text();
    }

    static constexpr float width = 1280, height = 720;
    gl::OffscreenContext context_;
    // Nobody looks at the pixels, which cost software GL most of a test's time.
    gl::Framebuffer framebuffer_{1, 1};
    Stage stage_{fake_live_experiment()};
    FakeExperiment& experiment_ = dynamic_cast<FakeExperiment&>(stage_.engine().experiment());
    Gui gui_;
    WindowView view_{stage_, ViewOptions(), 1, 1};
};

TEST_F(WindowViewTest, EveryParameterHasAWidgetWithItsValue) {
    click("group.fake.Race laboratory");
    set("layout", "padded");
    frames(2);
    for (const experiments::Parameter* p : experiment_.parameters().all()) {
        const Widget* widget = view_.widgets().find("fake." + p->id());
        ASSERT_NE(widget, nullptr) << p->id();
        EXPECT_EQ(widget->value, p->text()) << p->id();
        EXPECT_TRUE(widget->visible) << p->id();
        EXPECT_TRUE(widget->enabled) << p->id();
        EXPECT_GT(widget->w * widget->h, 100) << p->id();
    }
}

TEST_F(WindowViewTest, AGroupWithoutEffectIsFoldedUntilItHasOne) {
    EXPECT_EQ(view_.widgets().find("group.fake.Kernel")->value, "open");
    EXPECT_EQ(view_.widgets().find("group.fake.Race laboratory")->value, "folded");
    EXPECT_EQ(view_.widgets().find("fake.delay"), nullptr);
    set("layout", "padded");
    frames(2);
    EXPECT_EQ(view_.widgets().find("group.fake.Race laboratory")->value, "open");
    EXPECT_TRUE(view_.widgets().find("fake.delay")->enabled);
}

TEST_F(WindowViewTest, AClickFoldsAGroupAndItStaysFolded) {
    click("group.fake.Kernel");
    EXPECT_EQ(view_.widgets().find("fake.sync"), nullptr);
    EXPECT_TRUE(view_.options().folds.at("fake.Kernel"));
    click("group.fake.Race laboratory");
    EXPECT_FALSE(view_.widgets().find("fake.delay")->enabled) << "opened, but without effect";
    click("group.fake.Kernel");
    EXPECT_NE(view_.widgets().find("fake.sync"), nullptr);
}

TEST_F(WindowViewTest, AMarkBesideAChangedValueBringsTheDefaultBack) {
    EXPECT_EQ(view_.widgets().find("fake.kernel.default"), nullptr);
    EXPECT_EQ(view_.widgets().find("parameters.defaults"), nullptr);
    click("fake.kernel");
    click("fake.kernel:a");
    EXPECT_EQ(view_.widgets().find("fake.kernel.default")->value, "tiled");
    click("fake.kernel.default");
    EXPECT_EQ(value("kernel"), "c");
    EXPECT_EQ(view_.widgets().find("fake.kernel.default"), nullptr);
}

TEST_F(WindowViewTest, AMarkBesideAChangedRunSettingBringsItsDefaultBack) {
    const compute::RunSettings usual = stage_.run();
    stage_.set_run(
        {compute::Math::fast, compute::Schedule::reverse, 7, compute::BarrierPolicy::strict});
    frames(3);
    click("group.Device");
    for (const char* id : {"math", "schedule", "barriers", "seed"})
        click(std::string(id) + ".default");
    EXPECT_EQ(stage_.run(), usual);
    for (const char* id : {"math", "schedule", "barriers", "seed"})
        EXPECT_EQ(view_.widgets().find(std::string(id) + ".default"), nullptr) << id;
}

TEST_F(WindowViewTest, TheListOfDevicesComesFromTheEngine) {
    EXPECT_FALSE(stage_.shown().devices.empty());
    click("group.Device");
    click("device");
    EXPECT_NE(view_.widgets().find("device:auto"), nullptr);
    EXPECT_NE(view_.widgets().find("device:emulator"), nullptr);
}

TEST_F(WindowViewTest, ASliderThatIsDraggedIsOneStepOfUndo) {
    const Widget slider = *view_.widgets().find("fake.speed.slider");
    move(slider.x + slider.w / 2, slider.y + slider.h / 2);
    button(true);
    for (const double share : {0.6, 0.7, 0.8}) {
        move(slider.x + slider.w * share, slider.y + slider.h / 2);
        frames(2);
    }
    button(false);
    ASSERT_NE(value("speed"), "1");
    stage_.undo();
    EXPECT_EQ(value("speed"), "1");
}

TEST_F(WindowViewTest, ResetToDefaultsSetsEveryParameterBack) {
    click("fake.sync");
    type("fake.level", "200");
    press_enter();
    EXPECT_EQ(value("level"), "200");
    click("parameters.defaults");
    for (const experiments::Parameter* p : experiment_.parameters().all())
        EXPECT_TRUE(p->is_default()) << p->id();
    EXPECT_EQ(view_.widgets().find("parameters.defaults"), nullptr);
}

TEST_F(WindowViewTest, TheFoldedDockHasTheTabsAndALineOfTimings) {
    click("transport.step");
    EXPECT_EQ(view_.widgets().find("dock.fold")->value, "folded");
    EXPECT_EQ(view_.widgets().find("timing.ripple_sync")->value, "4.41");
    EXPECT_EQ(view_.widgets().find("timing.ripple_sync.share"), nullptr);
    const double canvas = view_.layout().canvas.height;
    click("dock.timings");
    EXPECT_EQ(view_.widgets().find("dock.timings")->value, "on");
    EXPECT_NE(view_.widgets().find("timing.ripple_sync.share"), nullptr);
    EXPECT_LT(view_.layout().canvas.height, canvas);
    click("dock.timings");
    EXPECT_EQ(view_.widgets().find("dock.timings")->value, "off");
    EXPECT_EQ(view_.layout().canvas.height, canvas);
    click("dock.fold");
    EXPECT_EQ(view_.widgets().find("dock.timings")->value, "on");
    click("dock.fold");
    EXPECT_EQ(view_.widgets().find("dock.fold")->value, "folded");
}

TEST_F(WindowViewTest, BesideTheEditorTheResultsAreAStrip) {
    click("editor.open");
    const Widget* wrong = view_.widgets().find("result.wrong_pixels");
    ASSERT_NE(wrong, nullptr);
    EXPECT_TRUE(wrong->visible);
    EXPECT_EQ(wrong->value, "41.8 %");
    EXPECT_GE(wrong->y, view_.layout().canvas.y + view_.layout().canvas.height);
    EXPECT_EQ(view_.widgets().find("result.wrong_pixels.sentence"), nullptr);
}

TEST_F(WindowViewTest, AFoldedPanelComesBackWithAClickAtItsEdge) {
    EXPECT_EQ(view_.widgets().find("unfold.controls"), nullptr);
    EXPECT_EQ(view_.widgets().find("unfold.results"), nullptr);
    view_.options().hide_controls = view_.options().hide_results = true;
    frames(2);
    EXPECT_EQ(view_.widgets().find("fake.sync"), nullptr);
    click("unfold.controls");
    EXPECT_FALSE(view_.options().hide_controls);
    EXPECT_NE(view_.widgets().find("fake.sync"), nullptr);
    EXPECT_EQ(view_.widgets().find("unfold.controls"), nullptr);
    click("unfold.results");
    EXPECT_FALSE(view_.options().hide_results);
    EXPECT_EQ(view_.widgets().find("unfold.results"), nullptr);
}

TEST_F(WindowViewTest, AClickChangesAToggle) {
    click("fake.sync");
    EXPECT_EQ(value("sync"), "off");
    EXPECT_EQ(view_.widgets().find("fake.sync")->value, "off");
    click("fake.sync");
    EXPECT_EQ(value("sync"), "on");
}

TEST_F(WindowViewTest, AListOpensAndAppliesTheClickedEntry) {
    EXPECT_EQ(view_.widgets().find("fake.kernel:a"), nullptr);
    click("fake.kernel");
    click("fake.kernel:a");
    EXPECT_EQ(value("kernel"), "a");
    EXPECT_EQ(view_.widgets().find("fake.kernel:a"), nullptr);
}

TEST_F(WindowViewTest, ATypedNumberIsAppliedOnEnter) {
    type("fake.level", "200");
    EXPECT_EQ(value("level"), "64");  // not before Enter
    press_enter();
    EXPECT_EQ(value("level"), "200");
}

TEST_F(WindowViewTest, LeavingAFieldAppliesItsText) {
    type("fake.file", "stars.csv");
    click("fake.file.open");
    EXPECT_EQ(value("file"), "stars.csv");
}

TEST_F(WindowViewTest, AnIllegalNumberShowsASentenceAndKeepsTheValue) {
    type("fake.level", "999");
    press_enter();
    EXPECT_EQ(value("level"), "64");
    EXPECT_NE(view_.widgets().find("message")->value.find("999"), std::string::npos);
    EXPECT_EQ(view_.widgets().find("fake.level")->value, "64");
}

TEST_F(WindowViewTest, AnIntegerSliderIsAppliedWhenReleased) {
    const Widget slider = *view_.widgets().find("fake.level.slider");
    move(slider.x + slider.w / 2, slider.y + slider.h / 2);
    button(true);
    move(slider.x + slider.w - 2, slider.y + slider.h / 2);
    EXPECT_EQ(value("level"), "64");
    button(false);
    frames(2);
    EXPECT_EQ(value("level"), "255");
}

TEST_F(WindowViewTest, ARealSliderIsAppliedWhileItMoves) {
    const Widget slider = *view_.widgets().find("fake.speed.slider");
    move(slider.x + slider.w / 2, slider.y + slider.h / 2);
    button(true);
    move(slider.x + slider.w - 2, slider.y + slider.h / 2);
    frames(2);
    EXPECT_EQ(value("speed"), "10");
    button(false);
}

TEST_F(WindowViewTest, TransportButtonsRunStepPauseAndReset) {
    EXPECT_EQ(experiment_.frame(), 0U);
    click("transport.step");
    EXPECT_EQ(experiment_.frame(), 1U);
    click("transport.pause");
    EXPECT_FALSE(stage_.paused());
    EXPECT_GT(experiment_.frame(), 1U);
    click("transport.pause");
    EXPECT_TRUE(stage_.paused());
    click("transport.reset");
    EXPECT_EQ(experiment_.frame(), 0U);
}

TEST_F(WindowViewTest, DraggingMovesThePictureAndFitBringsItBack) {
    const Widget before = *view_.widgets().find("picture.pixels");
    const Widget canvas = *view_.widgets().find("picture");
    click("view.one_to_one");
    EXPECT_EQ(view_.widgets().find("picture.pixels")->w, 64);
    move(canvas.x + 200, canvas.y + 200);
    const Widget exact = *view_.widgets().find("picture.pixels");
    button(true);
    move(canvas.x + 220, canvas.y + 190);
    button(false);
    EXPECT_EQ(view_.widgets().find("picture.pixels")->x, exact.x + 20);
    EXPECT_EQ(view_.widgets().find("picture.pixels")->y, exact.y - 10);
    click("view.fit");
    EXPECT_EQ(view_.widgets().find("picture.pixels")->x, before.x);
    EXPECT_EQ(view_.widgets().find("picture.pixels")->w, before.w);
}

TEST_F(WindowViewTest, ThePixelUnderTheMouseIsDescribed) {
    const Widget picture = *view_.widgets().find("picture.pixels");
    const double zoom = picture.w / 64;
    move(picture.x + 10.5 * zoom, picture.y + 20.5 * zoom);
    frames();
    ASSERT_NE(view_.widgets().find("picture.hover"), nullptr);
    EXPECT_EQ(view_.widgets().find("picture.hover")->value, "x 10  y 20   rgb 0 64 10");
}

TEST_F(WindowViewTest, TheResultsShowAFindingAndTheMessageLineDoesNot) {
    click("fake.sync");
    frames();
    const std::string sentence =
        "4 of 10 pixels come from another thread's turn: the barrier is missing.";
    EXPECT_EQ(view_.widgets().find("message")->value, "") << "it is for events";
    EXPECT_EQ(view_.widgets().find("result.wrong_pixels")->value, "41.8 %");
    EXPECT_EQ(view_.widgets().find("result.wrong_pixels.sentence")->value, sentence);
}

TEST_F(WindowViewTest, AMicroscopeWithoutALaunchSaysWhyAndCloses) {
    click("transport.microscope");
    frames(3);
    ASSERT_NE(view_.widgets().find("microscope.complaint"), nullptr);
    EXPECT_NE(view_.widgets().find("microscope.complaint")->value, "");
    EXPECT_FALSE(view_.widgets().find("microscope.step")->enabled);
    for (const char* tab : {"dock.timeline", "dock.banks", "dock.registers", "dock.timings"})
        if (view_.widgets().find(tab)) click(tab);
    click("microscope.close");
    EXPECT_EQ(view_.widgets().find("microscope.complaint"), nullptr);
}

TEST_F(WindowViewTest, TimingsOfTheEmulatorAreMarked) {
    click("transport.step");
    EXPECT_NE(view_.widgets().find("timings.emulated"), nullptr);
    EXPECT_EQ(view_.widgets().find("timing.ripple_sync")->value, "4.41");
}

// Numbers of GLFW's keys.
constexpr int key_escape = 256, key_f1 = 290, control_modifier = 2;

TEST_F(WindowViewTest, KeysPauseStepAndReset) {
    view_.press(' ', 0);
    frames(2);
    EXPECT_FALSE(stage_.paused());
    view_.press(' ', 0);
    frames();
    EXPECT_TRUE(stage_.paused());
    const std::uint64_t before = experiment_.frame();
    view_.press('.', 0);
    frames();
    EXPECT_EQ(experiment_.frame(), before + 1);
    view_.press('R', 0);
    frames();
    EXPECT_EQ(experiment_.frame(), 0U);
}

TEST_F(WindowViewTest, KeysHaveTheMeaningThatTheKeysBeforeThemGaveThem) {
    view_.press('M', 0);
    view_.press(' ', 0);  // plays in the microscope, which is open by now
    frames();
    EXPECT_TRUE(view_.microscope().is_open());
    EXPECT_TRUE(stage_.paused());
    view_.press(key_escape, 0);
    view_.press(' ', 0);
    frames();
    EXPECT_FALSE(view_.microscope().is_open());
    EXPECT_FALSE(stage_.paused());
}

TEST_F(WindowViewTest, EscapeClosesTheListOfKeysBeforeTheMicroscope) {
    view_.press('M', 0);
    view_.press('H', 0);
    view_.press(key_escape, 0);
    frames();
    EXPECT_TRUE(view_.microscope().is_open());
    view_.press(key_escape, 0);
    frames();
    EXPECT_FALSE(view_.microscope().is_open());
}

TEST_F(WindowViewTest, LettersAreTextWhileAFieldHasTheKeys) {
    click("fake.file");
    ASSERT_TRUE(ImGui::GetIO().WantTextInput);
    view_.press('E', 0);
    frames();
    EXPECT_FALSE(view_.options().editor);
    view_.press('Q', control_modifier);
    frames();
    EXPECT_TRUE(view_.asked_to_quit());
    EXPECT_EQ(view_.widgets().find("keys")->value, "off");
    view_.press(key_f1, 0);
    frames();
    EXPECT_EQ(view_.widgets().find("keys")->value, "on");
}

}  // namespace
}  // namespace warpscope::ui
