#include "support/waits_kernel.h"
#include "ui/view_fixture.h"

namespace warpscope::ui {
namespace {

using emulator::Dim3;
using emulator::FindingKind;

const std::string waits_source = "launch/waits";

/// A launch file in the window, whose source "deadlock" or "outside" fails.
class FailedLaunchTest : public ViewFixture {
  protected:
    void open(const std::string& source) {
        Stage::Start start;
        start.device_wish = "emulator";
        start.entry = tests::waits_entry();
        start.try_edits = [this](const auto& request, const auto& stop) {
            ++tries_;
            return experiments::try_edits(helpers_, request, stop);
        };
        start.no_compiler = [] { return std::string(); };
        show(start);
        stage_->pause(false);
        stage_->documents().open(waits_source, source, "waits.cu");
        finish_edits();
    }
    void edit(const std::string& source) {
        stage_->documents()[waits_source].replace(source);
        finish_edits();
    }
    std::optional<Dim3> failed_block() { return stage_->shown().inspected.failed_block; }
    bool says(const char* words) { return stage_->message().text.find(words) != std::string::npos; }
    EditState state() { return stage_->documents()[waits_source].state(); }
    double largest() { return experiments::find(stage_->report(), "largest")->value; }

    compute::Helpers helpers_{"/proc/self/exe"};  // starts nothing
    int tries_ = 0;
};

TEST_F(FailedLaunchTest, TheMicroscopeShowsADeadlockOfTheFirstRun) {
    open("deadlock");
    EXPECT_TRUE(says("deadlock in block (2,0,0)")) << stage_->message().text;
    EXPECT_EQ(state(), EditState::failed);
    EXPECT_EQ(stage_->documents()[waits_source].text(), "deadlock");
    EXPECT_EQ(failed_block(), (Dim3{2, 0, 0}));
    ASSERT_NE(stage_->checks().inspection, nullptr);
    ASSERT_EQ(stage_->checks().inspection->verdict.findings.size(), 1U);
    EXPECT_EQ(stage_->checks().inspection->verdict.findings[0].kind, FindingKind::barrier);

    click("picture.show_failure");
    settle();
    EXPECT_EQ(value("microscope.block"), "2");
    EXPECT_NE(value("microscope.ending").find("deadlock in block (2,0,0)"), std::string::npos);
    EXPECT_TRUE(value("warp.0").starts_with("waits at the barrier")) << value("warp.0");
    EXPECT_TRUE(value("warp.1").starts_with("waits at the barrier")) << value("warp.1");
}

TEST_F(FailedLaunchTest, StandsStillAndTriesNothingTwice) {
    open("deadlock");
    const int tries = tries_;
    const std::uint64_t frame = stage_->frame(), generation = stage_->shown().generation;
    frames(20);
    EXPECT_FALSE(stage_->paused());
    EXPECT_EQ(stage_->frame(), frame);
    EXPECT_EQ(stage_->shown().generation, generation);
    EXPECT_EQ(tries_, tries);
    stage_->reset();
    finish_edits();
    EXPECT_EQ(tries_, tries + 1);
    EXPECT_EQ(failed_block(), (Dim3{2, 0, 0}));
}

TEST_F(FailedLaunchTest, AnEditThatMendsTheKernelResumes) {
    open("outside");
    EXPECT_TRUE(says("thread (63,0,0) of block (3,0,0)")) << stage_->message().text;
    EXPECT_EQ(failed_block(), (Dim3{3, 0, 0}));
    ASSERT_NE(stage_->checks().inspection, nullptr);
    ASSERT_EQ(stage_->checks().inspection->verdict.findings.size(), 1U);
    EXPECT_EQ(stage_->checks().inspection->verdict.findings[0].kind, FindingKind::memory);
    EXPECT_EQ(value("race"), "Invalid access");
    edit("deadlock");
    EXPECT_EQ(failed_block(), (Dim3{2, 0, 0}));
    edit("good");
    EXPECT_EQ(state(), EditState::running);
    EXPECT_EQ(failed_block(), std::nullopt);
    EXPECT_EQ(stage_->message().text, "");
    EXPECT_EQ(largest(), 63);
    const std::uint64_t frame = stage_->frame();
    frames(3);
    EXPECT_EQ(stage_->frame(), frame + 3);
}

TEST_F(FailedLaunchTest, AChangedParameterTriesTheKernelAgain) {
    open("deadlock");
    set("blocks", "2");
    finish_edits();
    EXPECT_EQ(state(), EditState::running) << stage_->message().text;
    EXPECT_EQ(failed_block(), std::nullopt);
    EXPECT_EQ(largest(), 63);
}

TEST_F(FailedLaunchTest, AKernelThatAParameterMakesFailIsInspectedToo) {
    open("good");
    set("blocks", "2");
    edit("deadlock");
    EXPECT_EQ(state(), EditState::running) << stage_->message().text;
    set("blocks", "4");
    finish_edits();
    // It goes back to the source before.
    EXPECT_EQ(stage_->shown().edits.at(waits_source)->source, "good");
    EXPECT_EQ(failed_block(), (Dim3{2, 0, 0}));
    EXPECT_EQ(stage_->shown().inspected.edits.at(waits_source)->source, "deadlock");
    set("blocks", "2");
    finish_edits();
    EXPECT_EQ(stage_->shown().edits.at(waits_source)->source, "deadlock");
    EXPECT_EQ(failed_block(), std::nullopt);
}

TEST_F(FailedLaunchTest, TheOnlyKernelStandsStillWhenAParameterMakesItFail) {
    open("deadlock");
    set("blocks", "2");
    finish_edits();
    ASSERT_EQ(state(), EditState::running) << stage_->message().text;
    set("blocks", "4");
    finish_edits();
    EXPECT_TRUE(says("deadlock in block (2,0,0)")) << stage_->message().text;
    EXPECT_EQ(failed_block(), (Dim3{2, 0, 0}));
    const std::uint64_t frame = stage_->frame();
    frames(3);
    EXPECT_EQ(stage_->frame(), frame);
    set("blocks", "2");
    finish_edits();
    EXPECT_EQ(state(), EditState::running) << stage_->message().text;
    EXPECT_EQ(failed_block(), std::nullopt);
}

TEST_F(FailedLaunchTest, TheKernelBeforeRunsOnWhileTheMicroscopeShowsTheEdit) {
    open("good");
    edit("deadlock");
    EXPECT_EQ(stage_->shown().edits.at(waits_source)->source, "good");
    EXPECT_EQ(stage_->shown().inspected.edits.at(waits_source)->source, "deadlock");
    EXPECT_EQ(failed_block(), (Dim3{2, 0, 0}));
    const std::uint64_t frame = stage_->frame();
    frames(3);
    EXPECT_EQ(stage_->frame(), frame + 3);
    click("picture.show_failure");
    settle();
    EXPECT_NE(value("microscope.ending").find("deadlock"), std::string::npos);
    edit("good");
    EXPECT_EQ(failed_block(), std::nullopt);
    EXPECT_EQ(stage_->shown().inspected.edits.at(waits_source)->source, "good");
}

TEST_F(FailedLaunchTest, ALaunchThatFailsIsInspectedWhileTheOneBeforeGoesOn) {
    open("good");
    experiments::Entry fails = *tests::waits_entry();
    fails.compile = [](compute::Helpers& helpers, const std::string&, compute::Math math,
                       const std::stop_token& stop) {
        return tests::waits_entry()->compile(helpers, "deadlock", math, stop);
    };
    stage_->engine().open_launch(std::make_shared<const experiments::Entry>(std::move(fails)));
    finish_edits();
    EXPECT_TRUE(says("deadlock in block (2,0,0)")) << stage_->message().text;
    EXPECT_EQ(failed_block(), (Dim3{2, 0, 0}));
    EXPECT_EQ(stage_->shown().edits.at(waits_source)->source, "good");
    EXPECT_EQ(state(), EditState::running);
    stage_->engine().open_launch(tests::waits_entry());
    finish_edits();
    EXPECT_EQ(failed_block(), std::nullopt);
}

}  // namespace
}  // namespace warpscope::ui
