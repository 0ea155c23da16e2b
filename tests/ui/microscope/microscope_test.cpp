#include "ui/microscope/microscope.h"

#include <gtest/gtest.h>

#include "compute/device/kernel_files.h"
#include "compute/pick_device.h"
#include "emulator/program/launch.h"
#include "ui/fake_experiment.h"
#include "ui/live_launch_of.h"

namespace warpscope::ui {
namespace {

using emulator::Hazard;
using emulator::Stepper;

/// The ripple at 64x48, three blocks high, stepped by the microscope.
class MicroscopeTest : public testing::Test {
  protected:
    MicroscopeTest() { set("size", "64"); }

    void set(const std::string& id, const std::string& text) {
        const experiments::Assignment one{id, text};
        live_->set({&one, 1});
    }
    void open(bool sync, Microscope::Dim3 block = Microscope::origin) {
        set("sync", sync ? "on" : "off");
        microscope_.open(live_launch_of(entry_, *live_), block);
        ASSERT_TRUE(microscope_.ready()) << microscope_.complaint();
    }
    void choose(const Microscope::Choice& choice) {
        microscope_.choose(choice);
        microscope_.follow(live_launch_of(entry_, *live_), true);
    }
    std::uint64_t position() const { return microscope_.stepper().position(); }
    int line_of_warp(unsigned warp) const {
        const auto& splits = microscope_.stepper().warp(warp).splits;
        return splits.empty() ? 0 : microscope_.stepper().kernel().lines[splits[0].pc].source.line;
    }
    /// The warps of the whole history, in order.
    std::vector<int> order() const {
        std::vector<int> warps;
        for (const emulator::Step& step : microscope_.stepper().history())
            warps.push_back(step.warp);
        return warps;
    }

    const experiments::Entry& entry_ = experiments::find_experiment("ripple");
    std::unique_ptr<compute::Device> device_ = compute::pick_device("emulator");
    std::unique_ptr<experiments::Experiment> live_ = entry_.make(*device_);
    Microscope microscope_;
};

TEST_F(MicroscopeTest, OpensBeforeTheFirstInstructionAndKnowsAllSteps) {
    open(true, {1, 2, 0});
    EXPECT_EQ(position(), 0U);
    EXPECT_EQ(microscope_.stepper().warps(), 8U);
    EXPECT_EQ(microscope_.stepper().block(), 2U * 4 + 1);
    EXPECT_TRUE(microscope_.complete());
    EXPECT_GT(microscope_.known_steps(), 8U * 20);
    EXPECT_EQ(microscope_.stepper().waits().size(), 8U);
    EXPECT_TRUE(microscope_.all_findings().empty());
}

TEST_F(MicroscopeTest, StandsAtTheStepAtWhichItWasOpenedUntilSomebodyMoves) {
    microscope_.open_at(live_launch_of(entry_, *live_), {{1, 2, 0}, 7});
    EXPECT_EQ(position(), 7U);
    EXPECT_EQ(microscope_.block().y, 2U);
    microscope_.follow(live_launch_of(entry_, *live_, 2), true);
    EXPECT_EQ(position(), 7U) << "of another copy, of a kernel that has been compiled since";
    microscope_.step();
    microscope_.follow(live_launch_of(entry_, *live_, 3), true);
    EXPECT_EQ(position(), 0U);
}

TEST_F(MicroscopeTest, WithoutTheBarrierRacesAppearAtTheStepThatCausesThem) {
    open(false);
    std::uint64_t hazards = 0;
    for (const emulator::Finding& finding : microscope_.all_findings())
        if (finding.kind == emulator::FindingKind::race) hazards += finding.count;
    EXPECT_EQ(hazards, 256U);
    EXPECT_TRUE(microscope_.findings().empty());
    microscope_.to_end();
    EXPECT_EQ(microscope_.findings().size(), microscope_.all_findings().size());
    microscope_.restart();
    EXPECT_TRUE(microscope_.findings().empty());
}

TEST_F(MicroscopeTest, GoesFromRaceToRaceAndBack) {
    open(false);
    std::vector<std::uint64_t> places;
    for (microscope_.go_to_race(true); microscope_.notice().empty(); microscope_.go_to_race(true)) {
        places.push_back(position());
        ASSERT_LT(places.size(), 100U);
        const emulator::Step next = microscope_.stepper().history()[position()];
        EXPECT_EQ(next.warp, microscope_.warp());
        EXPECT_TRUE(next.mask >> microscope_.lane() & 1);
    }
    EXPECT_EQ(microscope_.notice(), "No race is ahead in this block.");
    ASSERT_GE(places.size(), 1U);
    EXPECT_EQ(position(), places.back()) << "it stays where it is";
    EXPECT_TRUE(std::is_sorted(places.begin(), places.end()));
    for (std::size_t k = places.size() - 1; k > 0; --k) {
        microscope_.go_to_race(false);
        EXPECT_EQ(position(), places[k - 1]);
    }
    microscope_.go_to_race(false);
    EXPECT_EQ(microscope_.notice(), "No race is behind in this block.");
}

TEST_F(MicroscopeTest, StepsAndGoesBack) {
    open(true);
    const int first = line_of_warp(microscope_.acting_warp());
    const unsigned acting = microscope_.acting_warp();
    microscope_.step();
    EXPECT_EQ(position(), 1U);
    EXPECT_EQ(microscope_.stepper().history()[0].warp, acting);
    microscope_.step_line();
    EXPECT_NE(line_of_warp(acting), first);
    microscope_.back();
    microscope_.restart();
    EXPECT_EQ(position(), 0U);
    microscope_.back();
    EXPECT_EQ(position(), 0U);
    EXPECT_EQ(line_of_warp(acting), first);
    microscope_.step_barrier();
    EXPECT_EQ(microscope_.stepper().epoch(), 1U);
    microscope_.back_barrier();
    EXPECT_EQ(position(), 0U);
    microscope_.to_end();
    EXPECT_EQ(microscope_.stepper().end(), Stepper::End::finished);
    EXPECT_EQ(position(), microscope_.known_steps());
    microscope_.step();
    EXPECT_EQ(position(), microscope_.known_steps());
}

TEST_F(MicroscopeTest, AWarpSteppedByHandRunsUntilItWaits) {
    open(true);
    microscope_.set_by_hand(true);
    microscope_.pick_warp(5);
    EXPECT_EQ(microscope_.acting_warp(), 5U);
    microscope_.step();
    EXPECT_EQ(microscope_.stepper().history()[0].warp, 5);
    EXPECT_TRUE(microscope_.stepper().history()[0].by_hand);
    // What would follow is known again.
    EXPECT_TRUE(microscope_.complete());
    EXPECT_GT(microscope_.known_steps(), position());
    for (int i = 0; i < 500 && microscope_.notice().empty(); ++i) microscope_.step();
    EXPECT_TRUE(microscope_.notice().starts_with("Warp 5 waits at the barrier, line "))
        << microscope_.notice();
    const std::uint64_t stuck = position();
    microscope_.step();
    EXPECT_EQ(position(), stuck);
    for (std::uint64_t i = 0; i < stuck; ++i) EXPECT_EQ(microscope_.stepper().history()[i].warp, 5);
    microscope_.step_warp(2);
    EXPECT_EQ(position(), stuck + 1);
    EXPECT_EQ(microscope_.stepper().history()[stuck].warp, 2);
    EXPECT_EQ(microscope_.notice(), "");
}

TEST_F(MicroscopeTest, ThreadsAreNumberedRowByRow) {
    open(true);
    microscope_.pick_thread({3, 5, 0});
    EXPECT_EQ(microscope_.warp(), 2U);  // 5 * 16 + 3 = 83
    EXPECT_EQ(microscope_.lane(), 19U);
    EXPECT_EQ(microscope_.thread().x, 3U);
    EXPECT_EQ(microscope_.thread().y, 5U);
    microscope_.pick_thread({99, 99, 0});
    EXPECT_EQ(microscope_.warp(), 7U);
    EXPECT_EQ(microscope_.lane(), 31U);
}

TEST_F(MicroscopeTest, TypedBlocksAreOpenedAndUnknownOnesRefused) {
    open(true);
    microscope_.step();
    microscope_.set_block("2, 1");
    EXPECT_EQ(microscope_.stepper().block(), 6U);
    EXPECT_EQ(position(), 0U);
    microscope_.set_block("4,0");
    EXPECT_EQ(microscope_.notice(), "There is no block (4, 0): the grid has 4 × 4 blocks.");
    EXPECT_EQ(microscope_.stepper().block(), 6U);
    microscope_.set_block("two");
    EXPECT_EQ(microscope_.notice(), "'two' is not the index of a block; write it like \"12, 7\".");
    EXPECT_EQ(microscope_.stepper().block(), 6U);
}

TEST_F(MicroscopeTest, OpensTheNearestBlockForABlockOutsideTheGrid) {
    open(true, {99, 1, 7});
    EXPECT_EQ(microscope_.block().x, 3U);
    EXPECT_EQ(microscope_.block().y, 1U);
    EXPECT_EQ(microscope_.block().z, 0U);
}

TEST_F(MicroscopeTest, AChangedParameterTakesANewCopyAndKeepsBlockAndThread) {
    open(true, {2, 1, 0});
    microscope_.step();
    const std::uint64_t copy = microscope_.copy();
    microscope_.follow(live_launch_of(entry_, *live_), true);
    EXPECT_EQ(microscope_.copy(), copy);
    set("sync", "off");
    microscope_.follow(live_launch_of(entry_, *live_), true);
    EXPECT_NE(microscope_.copy(), copy);
    EXPECT_EQ(position(), 0U);
    EXPECT_EQ(microscope_.block().x, 2U);
    EXPECT_FALSE(microscope_.all_findings().empty());
}

TEST_F(MicroscopeTest, KeepsItsFrameWhileTheExperimentRuns) {
    open(true);
    microscope_.step();
    live_->step();
    microscope_.follow(live_launch_of(entry_, *live_), false);
    EXPECT_EQ(microscope_.frame(), 0U);
    EXPECT_EQ(position(), 1U);
    microscope_.renew(live_launch_of(entry_, *live_));
    EXPECT_EQ(microscope_.frame(), 1U);
    EXPECT_EQ(position(), 0U);
    live_->step();
    microscope_.follow(live_launch_of(entry_, *live_), true);
    EXPECT_EQ(microscope_.frame(), 2U);
}

TEST_F(MicroscopeTest, ASeedDecidesTheOrderOfTheWarps) {
    open(true);
    const std::vector<int> first = order();
    Microscope::Choice choice = microscope_.choice();
    choice.seed = 77;
    choose(choice);
    EXPECT_NE(order(), first);
    EXPECT_EQ(live_->device().settings().seed, 1U);
    choice.seed = 1;
    choose(choice);
    EXPECT_EQ(order(), first);
    choice.schedule = compute::Schedule::run_to_barrier;
    choose(choice);
    EXPECT_EQ(microscope_.acting_warp(), 0U);
    choice.schedule = compute::Schedule::reverse;
    choose(choice);
    EXPECT_EQ(microscope_.acting_warp(), 7U);
}

TEST_F(MicroscopeTest, TakesOverChangedSettingsOfTheDevice) {
    open(true);
    compute::RunSettings run = device_->settings();
    run.schedule = compute::Schedule::reverse;
    device_->set(run);
    microscope_.follow(live_launch_of(entry_, *live_), true);
    EXPECT_EQ(microscope_.choice().schedule, compute::Schedule::reverse);
    EXPECT_EQ(microscope_.acting_warp(), 7U);
}

TEST_F(MicroscopeTest, PlayingTakesAboutEightSeconds) {
    open(true);
    microscope_.play(true);
    double seconds = 0;
    for (; microscope_.playing() && seconds < 20; seconds += 1 / 60.0)
        microscope_.advance(1 / 60.0);
    EXPECT_NEAR(seconds, 8, 0.5);
    EXPECT_EQ(microscope_.stepper().end(), Stepper::End::finished);
    // Once more begins anew; a step pauses.
    microscope_.play(true);
    EXPECT_EQ(position(), 0U);
    microscope_.step();
    EXPECT_FALSE(microscope_.playing());
}

TEST_F(MicroscopeTest, ADeadlockEndsTheBlockAndIsExplained) {
    const experiments::Entry& dot = experiments::find_experiment("dot");
    const auto live = dot.make(*device_);
    const experiments::Assignment divergent{"kernel", "divergent"};
    live->set({&divergent, 1});
    microscope_.open(live_launch_of(dot, *live, 2));
    ASSERT_TRUE(microscope_.ready()) << microscope_.complaint();
    microscope_.to_end();
    EXPECT_EQ(microscope_.stepper().end(), Stepper::End::finished);
    Microscope::Choice choice = microscope_.choice();
    choice.barriers = compute::BarrierPolicy::strict;
    microscope_.choose(choice);
    microscope_.follow(live_launch_of(dot, *live, 2), true);
    ASSERT_TRUE(microscope_.ready()) << microscope_.complaint();
    microscope_.to_end();
    EXPECT_EQ(microscope_.stepper().end(), Stepper::End::failed);
    EXPECT_NE(microscope_.stepper().error(), "");
    EXPECT_TRUE(microscope_.complete());
    microscope_.back();
    EXPECT_EQ(microscope_.stepper().end(), Stepper::End::open);
}

TEST_F(MicroscopeTest, AnotherExperimentOpensAtItsFirstBlock) {
    open(true, {2, 2, 0});
    const experiments::Entry& dot = experiments::find_experiment("dot");
    const auto live = dot.make(*device_);
    microscope_.follow(live_launch_of(dot, *live, 2), true);
    ASSERT_TRUE(microscope_.ready()) << microscope_.complaint();
    EXPECT_EQ(microscope_.block().x, 0U);
    EXPECT_NE(microscope_.stepper().kernel().name.find("dot"), std::string::npos);
}

TEST_F(MicroscopeTest, RunningToABarrierThatIsNotAheadIsSaid) {
    open(true);
    microscope_.step_barrier();
    EXPECT_EQ(microscope_.stepper().epoch(), 1U);
    EXPECT_EQ(microscope_.notice(), "");
    microscope_.step_barrier();
    EXPECT_EQ(microscope_.notice(), "No barrier was ahead: the block ran to its end.");
    microscope_.step_barrier();
    EXPECT_EQ(microscope_.notice(), "") << "at the end nothing runs";
}

TEST_F(MicroscopeTest, PlaceIsKnownUnlessWarpsWereSteppedByHand) {
    open(true, {2, 1, 0});
    microscope_.seek(17);
    ASSERT_TRUE(microscope_.place());
    EXPECT_EQ(microscope_.place()->text(), "2,1@17");
    const unsigned other = (microscope_.acting_warp() + 1) % 8;
    microscope_.step_warp(other);
    EXPECT_FALSE(microscope_.place());
    microscope_.back();
    EXPECT_EQ(microscope_.place()->text(), "2,1@17");
    Microscope::Choice choice = microscope_.choice();
    choice.seed = 5;
    choose(choice);
    EXPECT_FALSE(microscope_.place());
}

TEST(MicroscopeComplaintTest, WithoutALaunchSaysWhyThereIsNothingToStep) {
    FakeDevice device;
    FakeExperiment live(device);
    Microscope microscope;
    microscope.open(live_launch_of(fake_entry(), live));
    EXPECT_TRUE(microscope.is_open());
    EXPECT_FALSE(microscope.ready());
    EXPECT_NE(microscope.complaint(), "");
    microscope.step();
    microscope.step_line();
    microscope.step_warp(3);
    microscope.back();
    microscope.to_end();
    microscope.play(true);
    microscope.advance(1);
    microscope.pick(1, 1);
    microscope.set_block("1");
    microscope.choose({compute::Schedule::reverse, 2, compute::BarrierPolicy::strict});
    EXPECT_FALSE(microscope.ready());
    EXPECT_FALSE(microscope.playing());
    EXPECT_TRUE(microscope.findings().empty());
    microscope.close();
    EXPECT_FALSE(microscope.is_open());
}

TEST(ReadIndexTest, TakesOneToThreeNumbers) {
    using emulator::read_index;
    const auto index = read_index("(12, 7)");
    ASSERT_TRUE(index);
    EXPECT_EQ(index->x, 12U);
    EXPECT_EQ(index->y, 7U);
    EXPECT_EQ(index->z, 0U);
    EXPECT_EQ(read_index("3 4 5")->z, 5U);
    for (const char* wrong : {"", " ", "a", "1,2,3,4", "-1", "1x", "99999999999"})
        EXPECT_FALSE(read_index(wrong)) << wrong;
}

TEST(ReadPlaceTest, TakesABlockAndAStep) {
    EXPECT_EQ(read_place("12,7")->text(), "12,7");
    EXPECT_EQ(read_place("12, 7@214")->step, 214U);
    EXPECT_EQ(read_place("12, 7@214")->text(), "12,7@214");
    EXPECT_EQ(read_place("5@3")->block.y, 0U);
    for (const char* wrong : {"", "@", "@3", "1@", "1@x", "1@-2", "1@2@3", "1@2 "})
        EXPECT_FALSE(read_place(wrong)) << wrong;
}

TEST_F(MicroscopeTest, BreakpointsMoveWithTheirLines) {
    open(true);
    const std::string file = "kernels/ripple.cu", text(compute::kernel_source(file));
    microscope_.toggle_breakpoint(file, 54);
    microscope_.toggle_breakpoint(file, 1);
    microscope_.toggle_breakpoint({}, 54);  // of the PTX
    LiveLaunch edited = live_launch_of(entry_, *live_);
    compute::KernelEdit edit{.file = "ripple", .source = "", .ptx = "", .warnings = {}};
    edit.source = "\n\n" + text.substr(text.find('\n') + 1);  // the first line becomes two
    edited.edits["ripple"] = std::make_shared<const compute::KernelEdit>(edit);
    microscope_.follow(edited, true);
    const auto& points = microscope_.breaks().points;
    ASSERT_EQ(points.size(), 3U);
    EXPECT_EQ(points[0].line, 55);
    EXPECT_EQ(points[1].line, 1);
    EXPECT_EQ(points[2].line, 54);
    microscope_.follow(live_launch_of(entry_, *live_), true);
    EXPECT_EQ(points[0].line, 54);
    edit.source = text.substr(0, text.find('\n') + 1);  // one line is left
    edited.edits["ripple"] = std::make_shared<const compute::KernelEdit>(edit);
    microscope_.follow(edited, true);
    ASSERT_EQ(points.size(), 2U) << "the line of one is gone";
    EXPECT_EQ(points[0].line, 1);
}

// Asks about the pixels of a row until one is wrong.
TEST_F(MicroscopeTest, AWrongPixelOpensTheReadThatGotTheWrongValue) {
    set("sync", "off");
    const LiveLaunch live = live_launch_of(entry_, *live_);
    std::string wrong;
    std::shared_ptr<const Reason> reason;
    for (unsigned x = 0; x < 64 && !reason; ++x) {
        wrong = std::to_string(x) + ",20";
        while (!microscope_.reasons().knows(wrong)) reason = microscope_.reasons().ask(live, wrong);
        reason = microscope_.reasons().ask(live, wrong);
    }
    ASSERT_TRUE(reason);
    microscope_.show_reason(live, wrong);
    while (!microscope_.reason()) microscope_.follow(live, true);
    EXPECT_EQ(microscope_.reason(), reason.get());
    const auto place = reason->word_of_memory().place();
    ASSERT_TRUE(place);
    EXPECT_EQ(position(), place->step);
    EXPECT_EQ(microscope_.block(), *reason->words.block);
    EXPECT_EQ(microscope_.warp(), place->warp);
    EXPECT_EQ(microscope_.lane(), place->lane);
    EXPECT_EQ(microscope_.notice(), reason->words.brief);
    // The microscope's run is that of the slice: each of its steps is there.
    const auto history = microscope_.stepper().history();
    for (const auto& node : reason->word_of_memory().run.slice.nodes) {
        ASSERT_LT(node.step, history.size());
        EXPECT_EQ(history[node.step].warp, node.warp);
        EXPECT_EQ(history[node.step].pc, node.pc);
    }
    // The next step reads the word that is marked.
    microscope_.step();
    const auto access = microscope_.stepper().shared_access(place->warp);
    ASSERT_TRUE(access && reason->word);
    EXPECT_EQ(access->addresses[place->lane] / 4, *reason->word);
    EXPECT_EQ(access->kind, emulator::MemoryAccess::load);

    microscope_.set_block(Microscope::origin);
    EXPECT_FALSE(microscope_.reason()) << "another block";
}

}  // namespace
}  // namespace warpscope::ui
