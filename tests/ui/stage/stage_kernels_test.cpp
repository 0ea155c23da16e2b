#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <mutex>

#include "gl/context.h"
#include "support/gate.h"
#include "ui/fake_experiment.h"
#include "ui/stage/stage.h"

namespace warpscope::ui {
namespace {

using namespace std::chrono_literals;
using experiments::EditRequest;
using experiments::EditResult;
using State = EditState;
using Time = std::chrono::steady_clock::time_point;

constexpr experiments::Size view{640, 480};

/// Kernels by what their text says: one with "error" does not compile, one with "slow" is tried
/// until the gate opens or it is stopped, and all others draw a frame.
class Tries {
  public:
    EditResult operator()(const EditRequest& request, const std::stop_token& stop) {
        EditResult result;
        compute::KernelEdits edits;
        for (const auto& [file, source] : request.sources) {
            {
                const std::lock_guard lock(mutex_);
                ++counts_[source];
            }
            if (source.find("error") != std::string::npos) {
                result.diagnostics[file] = {{3, 7, compiler::Severity::error, "no such name"}};
                result.error = "kernels/ripple.cu:3: no such name";
                return result;
            }
            if (source.find("slow") != std::string::npos && !gate.pass(stop)) {
                ++stopped;
                result.error = "stopped";
                return result;
            }
            auto edit = std::make_shared<compute::KernelEdit>();
            edit->file = file;
            edit->source = source;
            edits[file] = edit;
        }
        result.running.device = std::make_shared<FakeDevice>();
        result.running.device->set(request.settings);
        result.running.device->set_edits(edits);
        result.running.experiment = request.entry->make(*result.running.device);
        result.running.experiment->resume(request.snapshot);
        return result;
    }
    int count(const std::string& source) {
        const std::lock_guard lock(mutex_);
        return counts_[source];
    }

    tests::Gate gate{false};
    std::atomic<int> stopped{0};

  private:
    std::mutex mutex_;
    std::map<std::string, int> counts_;
};

class StageKernelsTest : public testing::Test {
  protected:
    StageKernelsTest() {
        Stage::Start start;
        start.device_wish = "emulator";
        start.try_edits = [this](const auto& request, const auto& stop) {
            return tries_(request, stop);
        };
        start.entry = experiments::unowned(fake_entry());
        // A millisecond passes whenever somebody reads the time.
        start.clock = [now = std::make_shared<Time>()] { return *now += 1ms; };
        stage_.emplace(start);
        stage_->advance(view);
    }
    /// Frames until the texts have been tried.
    void settle() {
        while (stage_->trying()) {
            stage_->wait_for_edits();
            stage_->advance(view);
        }
        stage_->advance(view);
    }
    void type(const std::string& text) {
        stage_->documents()["ripple"].replace(text);
        stage_->advance(view);
    }
    void run(const std::string& text) {
        type(text);
        settle();
        ASSERT_EQ(running(), text);
    }
    std::string running() {
        const auto& edits = stage_->engine().device().edits();
        return edits.empty() ? "" : edits.at("ripple")->source;
    }
    State state() { return stage_->documents()["ripple"].state(); }
    FakeExperiment& fake() { return dynamic_cast<FakeExperiment&>(stage_->engine().experiment()); }
    bool assign(const std::string& id, const std::string& text) {
        const experiments::Assignment one{id, text};
        return stage_->assign({&one, 1});
    }

    gl::OffscreenContext context_;
    Tries tries_;  // outlives the stage's thread
    std::optional<Stage> stage_;
};

TEST_F(StageKernelsTest, AnEditThatWasTriedGoesOnFromTheCurrentFrame) {
    for (int i = 0; i < 10; ++i) stage_->advance(view);
    assign("level", "99");
    run("a");
    EXPECT_EQ(state(), State::running);
    EXPECT_GE(stage_->engine().experiment().frame(), 11U);
    EXPECT_EQ(stage_->engine().experiment().parameters().find("level").text(), "99");
    EXPECT_EQ(stage_->message().text, "");
    ASSERT_NE(stage_->pixels(), nullptr);
    EXPECT_EQ(stage_->pixels()->read_pixels()[1], 99);
}

TEST_F(StageKernelsTest, ThePictureGoesOnWhileAnEditIsTriedAndNeverJumpsBack) {
    type("slow");
    while (tries_.count("slow") == 0) stage_->advance(view);
    // It takes turns with what is tried.
    const std::uint64_t before = stage_->engine().experiment().frame() + 20;
    while (stage_->engine().experiment().frame() < before) stage_->advance(view);
    EXPECT_EQ(state(), State::waiting);
    assign("level", "5");
    tries_.gate.set_open(true);
    settle();
    EXPECT_EQ(running(), "slow");
    EXPECT_GE(stage_->engine().experiment().frame(), before);
    EXPECT_EQ(stage_->engine().experiment().parameters().find("level").text(), "5");
}

TEST_F(StageKernelsTest, OfSeveralEditsOnlyTheNewestRuns) {
    type("slow 1");
    while (tries_.count("slow 1") == 0) stage_->advance(view);
    type("2");
    type("3");
    settle();
    EXPECT_EQ(running(), "3");
    EXPECT_EQ(tries_.stopped, 1);
    EXPECT_EQ(tries_.count("2"), 0);
}

TEST_F(StageKernelsTest, AnEditThatDoesNotCompileLeavesTheLastGoodKernelRunning) {
    run("a");
    const auto* before = &stage_->engine().experiment();
    type("an error");
    settle();
    EXPECT_EQ(running(), "a");
    EXPECT_EQ(&stage_->engine().experiment(), before);
    EXPECT_EQ(state(), State::failed);
    ASSERT_EQ(stage_->documents()["ripple"].outcome()->diagnostics.size(), 1U);
    EXPECT_EQ(stage_->documents()["ripple"].outcome()->diagnostics[0].line, 3);
    EXPECT_EQ(stage_->message().text, "kernels/ripple.cu:3: no such name");
    const std::uint64_t frame = stage_->engine().experiment().frame();
    stage_->advance(view);
    EXPECT_EQ(stage_->engine().experiment().frame(), frame + 1);
    EXPECT_EQ(tries_.count("an error"), 1);
    stage_->wait_for_checks();
    EXPECT_TRUE(stage_->race_summary().sentence.starts_with("The source has errors."));
    EXPECT_TRUE(stage_->race_summary().chip.starts_with("Last good source: "));
    type("a");
    settle();
    stage_->wait_for_checks();
    EXPECT_FALSE(stage_->race_summary().chip.starts_with("Last good source: "));
    EXPECT_EQ(state(), State::running);
    EXPECT_EQ(stage_->message().text, "");
    EXPECT_EQ(tries_.count("a"), 1);  // it ran all the time
}

TEST_F(StageKernelsTest, TheBuiltInTextIsNotCompiled) {
    run("a");
    stage_->documents()["ripple"].replace(KernelDocuments::shipped("ripple"));
    stage_->advance(view);
    settle();
    EXPECT_EQ(running(), "");
    EXPECT_EQ(state(), State::shipped);
}

TEST_F(StageKernelsTest, AKernelThatFailsLaterIsReplacedByTheOneBefore) {
    run("good");
    run("bad at launch 100");
    for (int i = 0; i < 100; ++i) stage_->advance(view);
    const std::uint64_t frame = stage_->engine().experiment().frame();
    EXPECT_GE(frame, 100U);
    fake().fail_step = true;
    stage_->advance(view);
    EXPECT_EQ(state(), State::failed);
    settle();
    EXPECT_EQ(running(), "good");
    EXPECT_EQ(state(), State::failed);
    EXPECT_EQ(stage_->documents()["ripple"].outcome()->error, "the step's kernel failed");
    EXPECT_EQ(stage_->message().text, "the step's kernel failed. Back to the last good kernel.");
    EXPECT_FALSE(stage_->paused());
    const std::uint64_t after = stage_->engine().experiment().frame();
    stage_->advance(view);
    EXPECT_EQ(stage_->engine().experiment().frame(), after + 1);
    EXPECT_EQ(tries_.count("bad at launch 100"), 1);
    // That one fails as well: then it is the build's, and it stays so.
    fake().fail_render = true;
    stage_->advance(view);
    settle();
    EXPECT_EQ(running(), "");
    for (int i = 0; i < 5; ++i) stage_->advance(view);
    EXPECT_FALSE(stage_->trying());
    EXPECT_EQ(tries_.count("good"), 2);
    EXPECT_EQ(tries_.count("bad at launch 100"), 1);
}

TEST_F(StageKernelsTest, AfterAFailureAnotherEditOrAResetIsTried) {
    run("bad");
    fake().fail_step = true;
    stage_->advance(view);
    settle();
    EXPECT_EQ(running(), "");
    stage_->reset();
    settle();
    EXPECT_EQ(running(), "bad");
    EXPECT_EQ(state(), State::running);
    fake().fail_step = true;
    stage_->advance(view);
    type("better");
    settle();
    EXPECT_EQ(running(), "better");
}

TEST_F(StageKernelsTest, ALostDeviceIsReplacedByTheEmulator) {
    assign("level", "77");
    fake().lose_device = true;
    stage_->advance(view);
    ASSERT_TRUE(stage_->shown().lost_wish);
    EXPECT_EQ(stage_->device_wish(), "emulator");
    EXPECT_EQ(stage_->engine().experiment().parameters().find("level").text(), "77");
    EXPECT_EQ(stage_->message().tone, Tone::error);
    EXPECT_EQ(stage_->message().text.rfind("the GPU is gone. The emulator continues.", 0), 0U)
        << stage_->message().text;
    stage_->advance(view);
    stage_->advance(view);
    EXPECT_GE(stage_->engine().experiment().frame(), 1U);
    EXPECT_FALSE(stage_->paused());
}

TEST_F(StageKernelsTest, ALostHelperProcessEndsOnlyTheEdit) {
    run("a");
    fake().lose_device = true;
    stage_->advance(view);
    settle();
    EXPECT_EQ(running(), "");
    EXPECT_FALSE(stage_->shown().lost_wish);
    EXPECT_EQ(state(), State::failed);
}

TEST_F(StageKernelsTest, EditsRunOnAnotherDeviceAndWithOtherMathToo) {
    run("a");
    stage_->set_device("emulator");
    EXPECT_EQ(state(), State::waiting);
    settle();
    EXPECT_EQ(running(), "a");
    EXPECT_EQ(state(), State::running);
    compute::RunSettings run = stage_->engine().device().settings();
    run.math = compute::Math::fast;
    stage_->set_run(run);
    settle();
    EXPECT_EQ(running(), "a");
    EXPECT_EQ(stage_->engine().device().settings().math, compute::Math::fast);
    run.seed = 42;
    stage_->set_run(run);
    settle();
    EXPECT_EQ(running(), "a");
    EXPECT_EQ(stage_->engine().device().settings().seed, 42U);
}

TEST_F(StageKernelsTest, AMissingDeviceDoesNotFailTheEdit) {
    run("a");
    stage_->set_device("cuda:999");
    EXPECT_NE(stage_->message().text.find("Staying on SIMT emulator."), std::string::npos)
        << stage_->message().text;
    stage_->advance(view);
    settle();
    EXPECT_EQ(running(), "a");
    EXPECT_EQ(state(), State::running);
    EXPECT_EQ(stage_->device_wish(), "emulator");
}

TEST_F(StageKernelsTest, AfterAFailureAnEarlierResetStillCounts) {
    for (int i = 0; i < 1000; ++i) stage_->advance(view);
    run("bad");
    EXPECT_GE(stage_->engine().experiment().frame(), 1000U);
    stage_->reset();
    stage_->advance(view);
    fake().fail_step = true;
    stage_->advance(view);
    settle();
    EXPECT_EQ(running(), "");
    EXPECT_LT(stage_->engine().experiment().frame(), 1000U);
}

TEST_F(StageKernelsTest, AnEditOfAFileThatTheExperimentDoesNotUseIsNotTried) {
    stage_->documents()["dot"].replace("something");
    stage_->advance(view);
    settle();
    EXPECT_EQ(running(), "");
    EXPECT_EQ(stage_->documents()["dot"].state(), State::waiting);
}

TEST_F(StageKernelsTest, DestroyingTheStageStopsTheTry) {
    type("slow");
    while (tries_.count("slow") == 0) stage_->advance(view);
    stage_.reset();
    EXPECT_EQ(tries_.stopped, 1);
}

TEST(EditThreadTest, AnExceptionBecomesAnError) {
    EditThread thread([](const EditRequest&, const std::stop_token&) -> EditResult {
        throw std::runtime_error("no luck");
    });
    EXPECT_FALSE(thread.take());
    thread.start({});
    EXPECT_NE(thread.request(), nullptr);
    thread.wait();
    const auto ended = thread.take();
    ASSERT_TRUE(ended);
    EXPECT_EQ(ended->result.error, "no luck");
    EXPECT_EQ(thread.request(), nullptr);
    EXPECT_FALSE(thread.take());
}

}  // namespace
}  // namespace warpscope::ui
