#include "ui/stage/engine_thread.h"

#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "gl/context.h"
#include "ui/fake_experiment.h"
#include "ui/stage/stage.h"

namespace warpscope::ui {
namespace {

/// Holds the steps of GatedExperiment until the test lets them go on.
struct Gate {
    std::mutex mutex;
    std::condition_variable changed;
    bool closed = false;
    int waiting = 0;

    void pass() {
        std::unique_lock lock(mutex);
        ++waiting;
        changed.notify_all();
        changed.wait(lock, [&] { return !closed; });
        --waiting;
    }
    void close() {
        const std::lock_guard lock(mutex);
        closed = true;
    }
    void open() {
        const std::lock_guard lock(mutex);
        closed = false;
        changed.notify_all();
    }
    bool is_open() {
        const std::lock_guard lock(mutex);
        return !closed;
    }
    void wait_for_a_step() {
        std::unique_lock lock(mutex);
        changed.wait(lock, [&] { return waiting > 0; });
    }
};
Gate gate;
std::atomic<bool> reports_end = true;
std::atomic<int> reports_begun = 0;

class GatedExperiment final : public FakeExperiment {
  public:
    using FakeExperiment::FakeExperiment;

    experiments::Report report() override {
        for (++reports_begun; !reports_end; std::this_thread::yield())
            device().check_stop("the report");
        return FakeExperiment::report();
    }

  protected:
    void do_step() override {
        gate.pass();
        FakeExperiment::do_step();
    }
};

const experiments::Entry& gated_entry() {
    static const experiments::Entry entry =
        experiments::entry_of<GatedExperiment>("gated", "Gated", "Its steps wait for a gate.");
    return entry;
}

/// Its device compiles kernels when it is made and at each step, until the gate opens.
class CompilingExperiment final : public FakeExperiment {
  public:
    explicit CompilingExperiment(compute::Device& on) : FakeExperiment(on) { compile(); }

  protected:
    void do_step() override { compile(); }

  private:
    void compile() {
        device().progress()->set_compiling(true);
        gate.pass();
        device().progress()->set_compiling(false);
    }
};

const experiments::Entry& compiling_entry() {
    static const experiments::Entry entry = experiments::entry_of<CompilingExperiment>(
        "compiling", "Compiling", "Its device compiles until a gate opens.");
    return entry;
}

/// A stage whose engine has a thread and an OpenGL context of its own.
class EngineThreadTest : public testing::Test {
  protected:
    EngineThreadTest() {
        Engine::Start start;
        start.device_wish = "emulator";
        start.entry = experiments::unowned(gated_entry());
        gate.close();
        stage_ = std::make_unique<Stage>(
            start, EngineThread::Hooks{.enter = [this] { second_.make_current(); },
                                       .leave = [this] { second_.release_current(); }});
        stage_->check_automatically(false);
    }
    ~EngineThreadTest() override { gate.open(); }

    /// Draws frames until the condition holds.
    template <class Condition>
    void until(Condition&& holds) {
        while (!holds()) {
            stage_->advance({64, 48});
            std::this_thread::yield();
        }
    }
    bool assign(const std::string& id, const std::string& text) {
        const experiments::Assignment one{id, text};
        return stage_->assign({&one, 1});
    }
    std::string chosen(const std::string& id) { return stage_->parameters().find(id).text(); }
    std::string computed(const std::string& id) {
        const auto set = stage_->entry().make_parameters();
        experiments::Parameter& parameter = set->find(id);
        parameter.take(stage_->shown().parameters[parameter.place()]);
        return parameter.text();
    }

    gl::OffscreenContext context_;
    gl::OffscreenContext second_{context_};
    std::unique_ptr<Stage> stage_;
};

TEST_F(EngineThreadTest, ItIsKnownThatADeviceCompilesKernels) {
    gate.open();
    stage_.reset();
    gate.close();
    Engine::Start start;
    start.device_wish = "emulator";
    start.entry = experiments::unowned(compiling_entry());
    // At the start the calling thread waits, and is told why; it opens the gate.
    const auto waits = [](const Work& work) {
        EXPECT_EQ(work.activity, Activity::start);
        if (work.launch.compiling) gate.open();
    };
    stage_ = std::make_unique<Stage>(
        start, EngineThread::Hooks{.enter = [this] { second_.make_current(); },
                                   .leave = [this] { second_.release_current(); },
                                   .waits = waits});
    EXPECT_TRUE(gate.is_open());
    gate.close();
    until([&] { return stage_->work() && stage_->work()->launch.compiling; });
    EXPECT_EQ(stage_->work()->activity, Activity::frame);
    stage_->pause(true);
    gate.open();
    until([&] { return stage_->settled() && !stage_->work(); });
}

TEST_F(EngineThreadTest, AStepThatDoesNotEndHoldsNoCommand) {
    stage_->advance({64, 48});
    gate.wait_for_a_step();
    EXPECT_TRUE(stage_->work());
    EXPECT_TRUE(assign("level", "99"));
    stage_->pause(true);
    for (int i = 0; i < 100; ++i) stage_->advance({64, 48});
    EXPECT_EQ(chosen("level"), "99");
    EXPECT_EQ(computed("level"), "64");
    EXPECT_TRUE(stage_->paused());
    EXPECT_EQ(stage_->frame(), 0U);
    gate.open();
    until([&] { return computed("level") == "99"; });
    EXPECT_EQ(chosen("level"), "99");
    EXPECT_EQ(stage_->frame(), 1U);
    EXPECT_TRUE(stage_->paused());
}

TEST_F(EngineThreadTest, TheWorkAfterAResetIsTheFirstFrame) {
    gate.open();
    until([&] { return stage_->frame() >= 3; });
    stage_->pause(true);
    until([&] { return stage_->settled() && !stage_->work(); });
    gate.close();
    stage_->reset();
    stage_->pause(false);
    stage_->advance({64, 48});
    gate.wait_for_a_step();
    ASSERT_TRUE(stage_->work());
    EXPECT_EQ(stage_->work()->frame, 1U);
    EXPECT_GE(stage_->frame(), 3U) << "the picture before is on show";
}

TEST_F(EngineThreadTest, OfManyCommandsTheLastOneHoldsAndNoneBeforeItIsSeen) {
    gate.open();
    for (int level = 1; level <= 200; ++level) {
        assign("level", std::to_string(level));
        stage_->advance({64, 48});
        ASSERT_EQ(chosen("level"), std::to_string(level));
    }
    until([&] { return computed("level") == "200"; });
    EXPECT_EQ(chosen("level"), "200");
}

TEST_F(EngineThreadTest, ACommandDoesNotWaitForAReport) {
    reports_begun = 0;
    reports_end = false;
    gate.open();
    until([&] { return reports_begun > 0; });
    EXPECT_TRUE(stage_->report().empty());
    assign("level", "99");
    until([&] { return computed("level") == "99"; });
    reports_end = true;
    until([&] { return !stage_->report().empty(); });
}

TEST_F(EngineThreadTest, ACostlyChangeWaitsForAnAnswer) {
    using Answer = Stage::Answer;
    EXPECT_TRUE(assign("bodies", "8191")) << "less than twice the work of 4096";
    EXPECT_EQ(chosen("bodies"), "8191");
    for (const Answer answer : {Answer::go_back, Answer::apply}) {
        EXPECT_TRUE(assign("bodies", "1048576"));
        EXPECT_EQ(chosen("bodies"), "8191");
        ASSERT_TRUE(stage_->costly_change());
        EXPECT_GT(stage_->costly_change()->seconds, Stage::costly_seconds);
        stage_->answer(answer);
        EXPECT_FALSE(stage_->costly_change());
        EXPECT_EQ(chosen("bodies"), answer == Answer::apply ? "1048576" : "8191");
    }
    EXPECT_FALSE(stage_->paused());
}

TEST_F(EngineThreadTest, ACostlyChangeCanBeMadePaused) {
    assign("bodies", "1048576");
    assign("level", "3");
    EXPECT_FALSE(stage_->costly_change()) << "another change makes the question pointless";
    assign("bodies", "1048576");
    stage_->answer(Stage::Answer::apply_paused);
    EXPECT_TRUE(stage_->paused());
    EXPECT_EQ(chosen("bodies"), "1048576");
    assign("bodies", "1");
    assign("bodies", "1048576");
    EXPECT_EQ(chosen("bodies"), "1048576") << "a paused experiment computes no frames";
}

TEST_F(EngineThreadTest, AValueThatTheEngineRefusesIsTakenBackWithAMessage) {
    gate.open();
    EXPECT_TRUE(assign("file", "missing"));
    EXPECT_EQ(chosen("file"), "missing");
    until([&] { return stage_->message().tone == Tone::error; });
    EXPECT_EQ(stage_->message().text, "missing: no such file");
    EXPECT_EQ(chosen("file"), "");
    EXPECT_FALSE(assign("level", "256"));  // known without the engine
    EXPECT_EQ(chosen("level"), "64");
}

TEST_F(EngineThreadTest, ThePictureOnShowStaysWhileNewerOnesAreWritten) {
    gate.open();
    until([&] { return stage_->pixels() != nullptr && stage_->frame() > 0; });
    const std::shared_ptr<const gl::Texture> kept = stage_->shown().picture.texture;
    const auto red = int(std::uint8_t(stage_->frame()));
    EXPECT_EQ(int(kept->read_pixels()[0]), red);
    const std::uint64_t later = stage_->frame() + 20;
    until([&] { return stage_->frame() >= later; });
    EXPECT_EQ(int(kept->read_pixels()[0]), red);
    EXPECT_NE(stage_->pixels(), kept.get());
    EXPECT_EQ(int(stage_->pixels()->read_pixels()[0]), int(std::uint8_t(stage_->frame())));
}

TEST_F(EngineThreadTest, AtMostOneFrameIsComputedForEachThatIsDrawn) {
    gate.open();
    std::uint64_t drawn = 0;
    while (stage_->frame() < 50) {
        stage_->advance({64, 48});
        ++drawn;
        std::this_thread::yield();
    }
    EXPECT_GE(drawn, stage_->frame());
}

TEST_F(EngineThreadTest, TheStageCanEndWhileAStepRuns) {
    stage_->advance({64, 48});
    gate.wait_for_a_step();
    std::jthread ends([&] { gate.open(); });
    stage_.reset();
}

TEST(EngineThreadStartTest, AnErrorOfTheConstructorIsThrown) {
    Engine::Start start;
    start.device_wish = "cuda:999";
    start.experiment = "ripple";
    EXPECT_THROW(Stage(start, EngineThread::Hooks{}), compute::DeviceError);
}

}  // namespace
}  // namespace warpscope::ui
