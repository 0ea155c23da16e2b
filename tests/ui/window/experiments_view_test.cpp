#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "compute/helper/helpers.h"
#include "experiments/launch/gallery.h"
#include "experiments/launch/open_launch.h"
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
    click("tab.launch");
    EXPECT_TRUE(view_->options().editor);
    EXPECT_EQ(value("editor.file"), "gallery/own");
    click("tab.ripple");
    EXPECT_FALSE(view_->options().editor);
    click("editor.open");
    click("tab.launch");
    click("tab.ripple");
    EXPECT_TRUE(view_->options().editor) << "as it was before";
}

TEST_F(Experiments, ResultsOfEarlierSettingsAreMarkedAsOld) {
    show("ripple", {{"size", "64"}});
    EXPECT_EQ(value("results.state"), "current");
    const experiments::Assignment one{"size", "128"};
    ASSERT_TRUE(stage_->assign({&one, 1}));
    gui_.begin_frame(int(width), int(height));  // before the engine computes a frame
    view_->draw({width, height});
    gui_.render(int(width), int(height));
    EXPECT_EQ(value("results.state"), "old");
    settle();
    EXPECT_EQ(value("results.state"), "current");
}

TEST_F(Experiments, TheCameraIsFoldedBecauseTheMouseMovesIt) {
    show("nbody", {{"bodies", "256"}});
    EXPECT_EQ(value("group.nbody.Bodies"), "open");
    EXPECT_EQ(value("group.nbody.Camera"), "folded");
    EXPECT_EQ(view_->widgets().find("nbody.yaw"), nullptr);
    click("group.nbody.Camera");
    EXPECT_EQ(value("nbody.yaw"), "30");
}

TEST_F(Experiments, StaleReadsOfATileThatCannotDetectThemAreSaidOnThePicture) {
    show("ripple", {{"size", "64"}, {"view", "stale"}});
    EXPECT_EQ(value("picture.remark"), "Only the stamped tile detects stale reads.");
    EXPECT_EQ(value("ripple.view.remark"), value("picture.remark"));
    click("picture.remedy");
    EXPECT_EQ(stage_->engine().experiment().parameters().find("layout").text(), "stamped");
    EXPECT_EQ(view_->widgets().find("picture.remark"), nullptr);
}

/// The first kernel of the gallery, which has a use for the mouse.
Stage::Start own_kernel(const char* width, const char* height) {
    Stage::Start start;
    start.device_wish = "emulator";
    start.entry = experiments::launch_entry(experiments::gallery_file("own"));
    start.assignments = {{"width", width}, {"height", height}};
    return start;
}

/// The window with a kernel of the gallery, which runs without a compiler.
class GalleryTest : public ViewFixture {
  protected:
    GalleryTest() {
        Stage::Start start = own_kernel("64", "48");
        start.helpers = &helpers_;
        start.no_compiler = [] { return "There is no compiler."; };
        show(start);
    }
    ~GalleryTest() override {
        std::filesystem::current_path(before_);
        std::filesystem::remove_all(folder_);
    }

    compute::Helpers helpers_{WARPSCOPE};
    const std::filesystem::path before_ = std::filesystem::current_path();
    const std::filesystem::path folder_ =
        std::filesystem::temp_directory_path() / ("warpscope_gallery" + std::to_string(::getpid()));
};

TEST_F(GalleryTest, AKernelIsChosenOnTheLeft) {
    EXPECT_EQ(value("gallery"), "own");
    click("gallery");
    click("gallery:single_buffer");
    EXPECT_EQ(stage_->entry().title, "Single buffer (racy)");
    EXPECT_EQ(value("gallery"), "single_buffer");
    EXPECT_EQ(stage_->parameters().find("marks").text(), "off");
    frames(2);
    ASSERT_NE(experiments::find(stage_->report(), "expect_0"), nullptr);
    EXPECT_GT(experiments::find(stage_->report(), "expect_0")->value, 0);
    EXPECT_EQ(value("result.expect_0.verdict"), "fail") << "the word of --json";
    click("tab.ripple");
    EXPECT_EQ(view_->widgets().find("gallery"), nullptr);
    click("tab.launch");
    EXPECT_EQ(value("gallery"), "single_buffer") << "the tab keeps the kernel";
}

TEST_F(GalleryTest, ItsLaunchIsChangedWithoutACompiler) {
    launches::LaunchFile file = stage_->shown().plan->file;
    file.launches[0].block = {launches::Expression("32"), launches::Expression("4")};
    file.launches[0].grid = {launches::Expression("2"), launches::Expression("12")};
    stage_->change_launch(file);
    finish_edits();
    stage_->pause(false);
    frames(3);
    EXPECT_EQ(stage_->message().text, "");
    const auto& kernels = stage_->timings().kernels();
    const auto rings = std::ranges::find(kernels, "rings", &compute::KernelTiming::name);
    ASSERT_NE(rings, kernels.end());
    EXPECT_EQ(rings->block.y, 4U);
}

TEST_F(GalleryTest, SavingWritesTheSourceAndTheLaunchFileToTheCurrentFolder) {
    std::filesystem::create_directories(folder_);
    std::filesystem::current_path(folder_);
    click("dock.launch");
    click("launch.save");
    EXPECT_NE(stage_->message().text.find("own.launch.json and its source own.cu."),
              std::string::npos)
        << stage_->message().text;
    const launches::LaunchFile saved = launches::read_launch_file(folder_ / "own.launch.json");
    EXPECT_FALSE(saved.built_in);
    EXPECT_EQ(std::get<launches::Number>(saved.scalars[0].second), launches::Number(64L));
    EXPECT_EQ(experiments::read_launch_source(saved),
              experiments::read_launch_source(experiments::gallery_file("own")));
    click("launch.save");
    EXPECT_NE(stage_->message().text.find("own.cu exists already"), std::string::npos)
        << stage_->message().text;
}

class PointingTest : public ViewFixture {
  protected:
    PointingTest() { show(own_kernel("64", "64")); }
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
    EXPECT_EQ(setting("mouse_z"), "0");
    mouse(0.6, 0.5, true);
    EXPECT_EQ(setting("mouse_z"), "1");
    mouse(-0.2, 0.5, true);
    EXPECT_EQ(setting("mouse_z"), "1");
    mouse(-0.2, 0.5, false);
    EXPECT_EQ(setting("mouse_z"), "0") << "released outside of the picture";
}

}  // namespace
}  // namespace warpscope::ui
