#include "ui/stage/stage.h"

#include <gtest/gtest.h>

#include "experiments/launch/gallery.h"
#include "gl/context.h"
#include "ui/fake_experiment.h"

namespace warpscope::ui {
namespace {

class StageTest : public testing::Test {
  protected:
    bool assign(const std::string& id, const std::string& text) {
        const experiments::Assignment one{id, text};
        return stage_.assign({&one, 1});
    }
    int red() { return stage_.pixels()->read_pixels()[0]; }
    int green() { return stage_.pixels()->read_pixels()[1]; }

    gl::OffscreenContext context_;
    Stage stage_{fake_live_experiment()};
    FakeExperiment& experiment_ = dynamic_cast<FakeExperiment&>(stage_.engine().experiment());
    const experiments::Size view_{640, 480};
};

TEST_F(StageTest, StepsAndRendersEachFrame) {
    stage_.pause(false);
    stage_.advance(view_);
    stage_.advance(view_);
    EXPECT_EQ(experiment_.frame(), 2U);
    EXPECT_EQ(red(), 2);
    EXPECT_EQ(stage_.pixels()->width(), 64);
}

TEST_F(StageTest, APausedFrameIsRenderedOnce) {
    stage_.advance(view_);
    stage_.advance(view_);
    stage_.advance(view_);
    EXPECT_EQ(experiment_.renders, 1);
    EXPECT_TRUE(assign("level", "99"));
    stage_.advance(view_);
    EXPECT_EQ(experiment_.renders, 2);
    EXPECT_EQ(green(), 99);
    EXPECT_EQ(experiment_.frame(), 0U);
}

TEST_F(StageTest, StepOnceComputesOneFrameAndPauses) {
    stage_.step_once();
    stage_.advance(view_);
    stage_.advance(view_);
    EXPECT_EQ(experiment_.frame(), 1U);
    EXPECT_TRUE(stage_.paused());
}

TEST_F(StageTest, AnIllegalValueGivesAMessageAndTheOldValueStays) {
    EXPECT_FALSE(assign("level", "256"));
    EXPECT_EQ(stage_.message().tone, Tone::error);
    EXPECT_NE(stage_.message().text.find("1..255"), std::string::npos) << stage_.message().text;
    EXPECT_EQ(experiment_.parameters().find("level").text(), "64");
    EXPECT_FALSE(assign("file", "missing"));
    EXPECT_EQ(experiment_.parameters().find("file").text(), "");
    EXPECT_TRUE(assign("level", "5"));
    EXPECT_EQ(stage_.message().text, "");
}

TEST_F(StageTest, UndoTakesBackTheNewestChangeAndRedoMakesItAgain) {
    const auto value = [&](const std::string& id) { return stage_.parameters().find(id).text(); };
    assign("level", "99");
    stage_.end_drag();
    assign("sync", "off");
    compute::RunSettings run = stage_.run();
    run.seed = 7;
    stage_.set_run(run);
    EXPECT_EQ(stage_.change_ahead(false), "Schedule seed: 7 → 1");
    EXPECT_EQ(stage_.change_ahead(true), "");
    stage_.undo();
    EXPECT_EQ(stage_.change_ahead(true), "Schedule seed: 1 → 7");
    EXPECT_EQ(stage_.run().seed, 1U);
    EXPECT_EQ(stage_.message().text, "Undone: Schedule seed: 7 → 1.");
    EXPECT_EQ(value("sync"), "off");
    stage_.undo();
    EXPECT_EQ(value("sync"), "on");
    stage_.undo();
    EXPECT_EQ(experiment_.parameters().find("level").text(), "64");
    EXPECT_EQ(stage_.message().text, "Undone: Level: 99 → 64.");
    EXPECT_EQ(stage_.change_ahead(false), "");
    stage_.undo();
    EXPECT_EQ(stage_.message().text, "There is no change to undo.");
    stage_.redo();
    EXPECT_EQ(experiment_.parameters().find("level").text(), "99");
    assign("level", "50");  // what was undone is gone
    stage_.redo();
    EXPECT_EQ(value("sync"), "on");
    EXPECT_EQ(stage_.message().text, "There is no change to redo.");
}

TEST_F(StageTest, WhatIsDraggedIsOneChange) {
    for (const char* level : {"70", "80", "90"}) assign("level", level);
    stage_.end_drag();
    assign("level", "91");
    stage_.undo();
    EXPECT_EQ(experiment_.parameters().find("level").text(), "90");
    stage_.undo();
    EXPECT_EQ(experiment_.parameters().find("level").text(), "64");
}

TEST_F(StageTest, UndoSkipsAChangeThatFailed) {
    assign("level", "99");
    EXPECT_FALSE(assign("file", "missing"));
    EXPECT_EQ(stage_.change_ahead(false), "Level: 99 → 64");
    stage_.undo();
    EXPECT_EQ(stage_.message().text, "Undone: Level: 99 → 64.");
}

TEST_F(StageTest, OpenSetsValuesAndRunSettingsAsOneChange) {
    const std::vector<experiments::Assignment> values{{"level", "99"}, {"sync", "off"}};
    compute::RunSettings run = stage_.run();
    run.schedule = compute::Schedule::reverse;
    EXPECT_TRUE(stage_.open(experiments::unowned(fake_entry()), values, run));
    EXPECT_EQ(experiment_.parameters().find("level").text(), "99");
    EXPECT_EQ(stage_.engine().device().settings().schedule, compute::Schedule::reverse);
    stage_.undo();
    EXPECT_EQ(stage_.message().text, "Undone: 2 parameters, Schedule: reverse → random.");
    EXPECT_EQ(experiment_.parameters().find("sync").text(), "on");
    EXPECT_EQ(stage_.engine().device().settings().schedule, compute::Schedule::random);
    const std::vector<experiments::Assignment> wrong{{"level", "1"}, {"levle", "2"}};
    EXPECT_FALSE(stage_.open(experiments::unowned(fake_entry()), wrong, run));
    EXPECT_EQ(experiment_.parameters().find("level").text(), "64");
    EXPECT_NE(stage_.message().text.find("levle"), std::string::npos);
}

TEST_F(StageTest, AFailedStepPausesWithAMessage) {
    stage_.pause(false);
    stage_.advance(view_);
    experiment_.fail_step = true;
    stage_.advance(view_);
    EXPECT_TRUE(stage_.paused());
    EXPECT_EQ(stage_.message().text, "the step's kernel failed. Paused.");
    EXPECT_EQ(red(), 1);
}

TEST_F(StageTest, AFailedPictureLeavesTheLastGoodPicture) {
    stage_.pause(false);
    stage_.advance(view_);
    experiment_.fail_render = true;
    stage_.advance(view_);
    EXPECT_EQ(stage_.message().tone, Tone::error);
    ASSERT_NE(stage_.pixels(), nullptr);
    EXPECT_EQ(red(), 1);
    experiment_.fail_render = false;
    stage_.pause(false);
    stage_.advance(view_);
    EXPECT_EQ(red(), 3);
}

TEST_F(StageTest, AnExperimentWithoutPixelsShowsItsTree) {
    stage_.advance(view_);
    EXPECT_NE(stage_.pixels(), nullptr);
    EXPECT_EQ(stage_.tree(), nullptr);
    assign("pixels", "off");
    stage_.advance(view_);
    EXPECT_EQ(stage_.pixels(), nullptr);
    ASSERT_NE(stage_.tree(), nullptr);
    EXPECT_EQ(stage_.tree()->rows.size(), 3U);
}

TEST_F(StageTest, AChangeWhilePausedIsReportedInTheNextFrame) {
    assign("sync", "off");
    stage_.advance(view_);
    EXPECT_EQ(stage_.report().front().verdict, experiments::Verdict::finding);
}

TEST_F(StageTest, TellsTheParametersThatDifferFromTheirDefaults) {
    EXPECT_TRUE(stage_.changed_parameters().empty());
    assign("sync", "off");
    ASSERT_EQ(stage_.changed_parameters().at("fake").size(), 1U);
    EXPECT_EQ(stage_.changed_parameters().at("fake").front().id, "sync");
}

TEST_F(StageTest, AComparisonIsDroppedWhenAParameterChanges) {
    EXPECT_FALSE(stage_.comparison());
    stage_.compare();
    EXPECT_TRUE(stage_.comparison());
    assign("sync", "on");
    EXPECT_FALSE(stage_.comparison());
}

/// The real experiments on the emulator.
class OwnStageTest : public testing::Test {
  protected:
    static Stage::Start start() {
        Stage::Start start;
        start.device_wish = "emulator";
        start.experiment = "ripple";
        start.remembered = {{"dot", {{"n", "1000"}}}, {"ripple", {{"size", "48"}}}};
        return start;
    }
    std::string value(const std::string& id) {
        return stage_.engine().experiment().parameters().find(id).text();
    }

    gl::OffscreenContext context_;
    Stage stage_{start()};
};

TEST_F(OwnStageTest, RemembersEachExperimentsParameters) {
    EXPECT_EQ(value("size"), "48");
    stage_.select(experiments::unowned(experiments::find_experiment("dot")));
    EXPECT_EQ(stage_.entry().id, "dot");
    EXPECT_EQ(value("n"), "1000");
    const experiments::Assignment n{"n", "777"};
    EXPECT_TRUE(stage_.assign({&n, 1}));
    stage_.select(experiments::unowned(experiments::find_experiment("ripple")));
    EXPECT_EQ(stage_.changed_parameters().at("dot").front().text, "777");
    EXPECT_EQ(stage_.changed_parameters().at("ripple").front().text, "48");
}

TEST_F(OwnStageTest, AParameterOfAnotherExperimentTakesNoValue) {
    const auto held = stage_.held(stage_.parameters().find("size"));
    EXPECT_TRUE(stage_.assign(*held, "64"));
    EXPECT_EQ(value("size"), "64");
    stage_.select(experiments::unowned(experiments::find_experiment("dot")));
    EXPECT_FALSE(stage_.assign(*held, "96"));
    EXPECT_EQ(value("n"), "1000");
    EXPECT_EQ(stage_.message().text, "");
}

TEST_F(OwnStageTest, UndoLeavesOutAScalarThatTheLaunchFileOnShowDoesNotHave) {
    stage_.open_launch(experiments::gallery_file("own"), "");
    EXPECT_TRUE(stage_.assign(stage_.parameters().find("mouse_x"), "20"));
    stage_.open_launch(experiments::gallery_file("transpose"), "");
    stage_.undo();
    EXPECT_EQ(stage_.message().text, "There is no change to undo.");
}

TEST_F(OwnStageTest, ALaunchFileOpensWithTheValuesThatItHas) {
    stage_.open_launch(experiments::gallery_file("own"), "", {{"mouse_x", "20"}, {"gone", "1"}});
    EXPECT_EQ(stage_.entry().id, "launch");
    EXPECT_EQ(value("mouse_x"), "20");
    EXPECT_EQ(stage_.message().text, "");
    EXPECT_EQ(stage_.shown().launch_error, "");
    EXPECT_EQ(stage_.engine().experiment().frame(), 0U);
}

TEST_F(OwnStageTest, AMissingDeviceLeavesTheDeviceInUse) {
    stage_.advance({64, 64});
    const auto* device = &stage_.engine().device();
    stage_.set_device("cuda:999");
    EXPECT_EQ(&stage_.engine().device(), device);
    EXPECT_EQ(stage_.message().tone, Tone::error);
    EXPECT_NE(stage_.message().text.find("Staying on " + device->info().name), std::string::npos)
        << stage_.message().text;
    stage_.advance({64, 64});
    EXPECT_EQ(stage_.engine().experiment().frame(), 2U);
}

TEST_F(OwnStageTest, OtherMathMakesTheExperimentAnewWithItsParameters) {
    stage_.advance({64, 64});
    compute::RunSettings run = stage_.engine().device().settings();
    run.math = compute::Math::fast;
    stage_.set_run(run);
    EXPECT_EQ(stage_.engine().experiment().frame(), 0U);
    EXPECT_EQ(value("size"), "48");
    EXPECT_EQ(stage_.message().text, "");
    stage_.advance({64, 64});
    EXPECT_EQ(stage_.pixels()->width(), 48);
}

TEST_F(OwnStageTest, AnotherDeviceKeepsTheParameters) {
    stage_.set_device("emulator");
    EXPECT_EQ(stage_.message().tone, Tone::info);
    EXPECT_EQ(value("size"), "48");
    stage_.select(experiments::unowned(experiments::find_experiment("dot")));
    EXPECT_EQ(value("n"), "1000");
}

TEST(OwnStage, AnIllegalRememberedValueIsLeftOutAndTheOthersAreSet) {
    const gl::OffscreenContext context;
    Stage::Start start;
    start.device_wish = "emulator";
    start.experiment = "ripple";
    start.remembered = {{"ripple", {{"size", "48"}, {"gone", "1"}, {"sync", "maybe"}}}};
    Stage stage(start);
    EXPECT_EQ(stage.engine().experiment().parameters().find("size").text(), "48");
    EXPECT_EQ(stage.engine().experiment().parameters().find("sync").text(), "on");
    EXPECT_EQ(stage.message().tone, Tone::error);
    start.assignments = {{"sync", "maybe"}};
    EXPECT_THROW(Stage{start}, experiments::ParameterError);
}

}  // namespace
}  // namespace warpscope::ui
