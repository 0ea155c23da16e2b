#include "ui/stage/inspector.h"

#include <gtest/gtest.h>

#include "ui/fake_experiment.h"

namespace warpscope::ui {
namespace {

using emulator::Finding;
using emulator::FindingKind;
using emulator::Severity;
using experiments::Inspection;
using SummaryState = RaceSummary::State;

Finding finding(FindingKind kind, Severity severity, std::uint64_t count) {
    Finding f;
    f.kind = kind;
    f.severity = severity;
    f.count = count;
    return f;
}

Inspection inspection(std::vector<Finding> findings, std::uint64_t blocks = 16,
                      std::uint64_t of_blocks = 16) {
    Inspection i;
    i.kernel = "ripple";
    i.verdict.findings = std::move(findings);
    i.blocks = blocks;
    i.of_blocks = of_blocks;
    return i;
}

class RaceSummaryTest : public testing::Test {
  protected:
    RaceSummary of(const Inspection& found, bool current = true) {
        found_ = found;
        Inspector inspector(work(), {});
        inspector.wait(fake_entry(), experiment_, true);
        return summarize(inspector.checks(), current);
    }
    Inspector::Work work() {
        return {[this](const auto&, auto&, std::size_t, auto) -> Inspector::Job<Inspection> {
                    if (too_large_) throw compute::OutOfMemory("2 GiB asked for");
                    return [this] {
                        if (!failure_.empty()) throw std::runtime_error(failure_);
                        return found_;
                    };
                },
                {}};
    }

    Inspection found_;
    std::string failure_;
    bool too_large_ = false;
    FakeDevice device_;
    FakeExperiment experiment_{device_};
};

TEST_F(RaceSummaryTest, HazardsAreCountedByBlock) {
    const RaceSummary s = of(inspection({finding(FindingKind::race, Severity::error, 16 * 100),
                                         finding(FindingKind::race, Severity::error, 16 * 156),
                                         finding(FindingKind::race, Severity::warning, 7),
                                         finding(FindingKind::uninitialized, Severity::error, 9)}));
    EXPECT_EQ(s.state, SummaryState::race);
    EXPECT_EQ(s.chip, "Race: 256 hazards a block");
    EXPECT_EQ(s.sentence,
              "256 hazards a block in all 16 blocks of ripple: pairs of accesses to one word that "
              "nothing orders.");
    EXPECT_EQ(s.findings, 4U);
}

TEST_F(RaceSummaryTest, UnevenCountsAreRoundedAndSayAbout) {
    const auto race = [](std::uint64_t count) {
        return std::vector{finding(FindingKind::race, Severity::error, count)};
    };
    EXPECT_EQ(of(inspection(race(250))).chip, "Race: about 16 hazards a block");
    EXPECT_EQ(of(inspection(race(3))).chip, "Race: 3 hazards");
    EXPECT_TRUE(
        of(inspection(race(1), 1, 1)).sentence.starts_with("1 hazard in the one block of ripple:"));
}

TEST_F(RaceSummaryTest, SaysWhatWasFoundWhereThereIsNoRace) {
    EXPECT_EQ(of(inspection({})).state, SummaryState::clean);
    EXPECT_EQ(of(inspection({}, 4, 4096)).sentence,
              "No race in the first 4 of 4 096 blocks of ripple, and every thread reached every "
              "barrier.");
    const RaceSummary barrier = of(inspection({finding(FindingKind::barrier, Severity::error, 1)}));
    EXPECT_EQ(barrier.state, SummaryState::error);
    EXPECT_EQ(barrier.chip, "Barrier not reached by all");
    EXPECT_EQ(of(inspection({finding(FindingKind::uninitialized, Severity::error, 1)})).chip,
              "Reads unwritten memory");
    const RaceSummary warning = of(inspection({finding(FindingKind::race, Severity::warning, 9)}));
    EXPECT_EQ(warning.state, SummaryState::warning);
    EXPECT_EQ(warning.chip, "1 warning");
}

// The lanes' sum is as wrong as that of two warps.
TEST_F(RaceSummaryTest, AReadThatRacesWithinAWarpIsARaceAndNoMereWarning) {
    Finding read = finding(FindingKind::race, Severity::warning, 4 * 31);
    read.hazard = emulator::Hazard::write_after_read;
    EXPECT_TRUE(spoils_results(read));
    const RaceSummary s = of(inspection({read}, 4, 4));
    EXPECT_EQ(s.state, SummaryState::race);
    EXPECT_EQ(s.chip, "Race within a warp: 31 hazards a block");
    EXPECT_EQ(s.sentence,
              "31 hazards a block between lanes of a warp in all 4 blocks of ripple: without "
              "__syncwarp() nothing orders them.");
    // Writes of one value leave no doubt about the result.
    read.hazard = emulator::Hazard::write_after_write;
    EXPECT_FALSE(spoils_results(read));
    EXPECT_EQ(of(inspection({read})).state, SummaryState::warning);
}

TEST_F(RaceSummaryTest, ALaunchThatEndsWithAnErrorIsNotClean) {
    Inspection stuck = inspection({});
    stuck.verdict.error = "lanes 0-15 of warp 0 wait";
    const RaceSummary s = of(stuck);
    EXPECT_EQ(s.state, SummaryState::failed);
    EXPECT_NE(s.sentence.find("lanes 0-15 of warp 0 wait"), std::string::npos);
}

TEST_F(RaceSummaryTest, ALaunchThatCouldNotBeCheckedSaysWhy) {
    failure_ = "too large for the emulator";
    const RaceSummary s = of(inspection({}));
    EXPECT_EQ(s.state, SummaryState::failed);
    EXPECT_EQ(s.chip, "Not checked");
    EXPECT_EQ(s.sentence, failure_);
}

TEST_F(RaceSummaryTest, TooLargeToCheckAutomaticallyIsNotAFailure) {
    too_large_ = true;
    const RaceSummary s = of(inspection({}));
    EXPECT_EQ(s.state, SummaryState::unknown);
    EXPECT_EQ(s.chip, "Not checked");
    EXPECT_NE(s.sentence.find("Too large to check automatically"), std::string::npos);
}

TEST_F(RaceSummaryTest, AVerdictOnEarlierSettingsIsNone) {
    EXPECT_EQ(of(inspection({})).state, SummaryState::clean);
    const RaceSummary s = of(inspection({}), false);
    EXPECT_EQ(s.state, SummaryState::unknown);
    EXPECT_EQ(s.chip, "Not checked");
    EXPECT_EQ(s.sentence, "The settings have changed since the last check.");
}

TEST_F(RaceSummaryTest, BeforeTheFirstResultTheStateIsUnknown) {
    Inspector inspector(work(), std::chrono::hours(1));
    EXPECT_EQ(summarize(inspector.checks(), true).chip, "Not checked");
    inspector.follow(fake_entry(), experiment_, true);
    EXPECT_EQ(summarize(inspector.checks(), true).chip, "Checking…");
    EXPECT_EQ(summarize(inspector.checks(), true).state, SummaryState::unknown);
}

}  // namespace
}  // namespace warpscope::ui
