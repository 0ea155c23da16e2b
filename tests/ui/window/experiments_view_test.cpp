#include <gtest/gtest.h>

#include "ui/view_fixture.h"

namespace warpscope::ui {
namespace {

using Experiments = ViewFixture;

TEST_F(Experiments, AnOwnKernelOpensWithItsEditorAndLeavingItClosesTheEditor) {
    Stage::Start start;
    start.device_wish = "emulator";
    start.experiment = "ripple";
    start.assignments = {{"size", "64"}};
    start.try_edits = [](const auto&, const auto&) { return experiments::EditResult(); };
    stage_ = std::make_unique<Stage>(start);
    stage_->pause(true);
    view_ = std::make_unique<WindowView>(*stage_, ViewOptions(), 1.F, 1.F);
    settle();
    EXPECT_FALSE(view_->options().editor);
    click("tab.scratch");
    EXPECT_TRUE(view_->options().editor);
    EXPECT_EQ(value("editor.file"), "gallery/own");
    click("tab.ripple");
    EXPECT_FALSE(view_->options().editor);
    click("editor.open");
    click("tab.scratch");
    click("tab.ripple");
    EXPECT_TRUE(view_->options().editor) << "as it was before";
}

TEST_F(Experiments, StaleReadsOfATileThatCannotDetectThemAreSaidOnThePicture) {
    show("ripple", {{"size", "64"}, {"view", "stale"}});
    EXPECT_EQ(value("picture.remark"), "Only the stamped tile detects stale reads.");
    EXPECT_EQ(value("ripple.view.remark"), value("picture.remark"));
    click("picture.remedy");
    EXPECT_EQ(stage_->engine().experiment().parameters().find("layout").text(), "stamped");
    EXPECT_EQ(view_->widgets().find("picture.remark"), nullptr);
}

/// A kernel that has a use for the mouse.
class PointingTest : public ViewFixture {
  protected:
    PointingTest() { show("scratch", {{"width", "64"}, {"height", "64"}}); }
    /// A place in fractions of the picture's area.
    void mouse(double x, double y, bool down) {
        const Widget area = *view_->widgets().find("picture");
        const auto at_x = float(area.x + x * area.w), at_y = float(area.y + y * area.h);
#if IMGUI_VERSION_NUM >= 18700
        ImGui::GetIO().AddMousePosEvent(at_x, at_y);
        frames();
        ImGui::GetIO().AddMouseButtonEvent(0, down);
#else
        ImGui::GetIO().MousePos = {at_x, at_y};
        frames();
        ImGui::GetIO().MouseDown[0] = down;
#endif
        frames(2);
    }
    std::string setting(const char* id) {
        return stage_->engine().experiment().parameters().find(id).text();
    }
};

TEST_F(PointingTest, TheKernelGetsTheMouseOnlyWhileThePictureRuns) {
    const std::uint64_t state = stage_->checks().state;
    mouse(0.4, 0.5, false);
    mouse(0.6, 0.5, true);
    mouse(0.6, 0.5, false);
    EXPECT_EQ(setting("mouse_x"), "384");
    EXPECT_EQ(stage_->checks().state, state) << "a paused launch stays the one that was checked";
    stage_->pause(false);
    mouse(0.4, 0.5, false);
    EXPECT_NE(setting("mouse_x"), "384");
    EXPECT_EQ(setting("mouse_down"), "off");
    mouse(0.6, 0.5, true);
    EXPECT_EQ(setting("mouse_down"), "on");
    mouse(-0.2, 0.5, true);
    EXPECT_EQ(setting("mouse_down"), "on");
    mouse(-0.2, 0.5, false);
    EXPECT_EQ(setting("mouse_down"), "off") << "released outside of the picture";
}

}  // namespace
}  // namespace warpscope::ui
