#include "experiments/replicas/searches.h"

#include <gtest/gtest.h>

#include "emulator/witness/schedule_file.h"
#include "experiments/live.h"

namespace warpscope::experiments {
namespace {

using emulator::Finding;
using emulator::FindingKind;
using tests::Live;
using Settings = std::vector<Assignment>;

struct Broken {
    const char* experiment;
    Settings settings;
};

/// The findings of a launch, each race with its witness.
std::vector<Finding> findings_of(Live& live) {
    std::vector<Finding> found = live.inspection().verdict.findings;
    const LaunchState state(live.entry(), live.experiment(), {});
    find_witnesses(found, state, std::chrono::minutes(1));
    return found;
}

TEST(FindWitnesses, EachBarrierOfTheExperimentsHasAShortestOrderThatNeedsIt) {
    for (const Broken& broken : {Broken{"ripple", {{"size", "64"}, {"sync", "off"}}},
                                 Broken{"dot", {{"n", "3000"}, {"kernel", "no_first_barrier"}}},
                                 Broken{"dot", {{"n", "3000"}, {"kernel", "no_loop_barrier"}}},
                                 Broken{"dot", {{"n", "3000"}, {"kernel", "no_barriers"}}},
                                 Broken{"nbody", {{"bodies", "512"}, {"load_barrier", "off"}}},
                                 Broken{"nbody", {{"bodies", "512"}, {"reuse_barrier", "off"}}},
                                 Broken{"single_buffer", {}}}) {
        SCOPED_TRACE(std::string(broken.experiment) +
                     (broken.settings.empty() ? "" : " " + broken.settings.back().id));
        Live live(broken.experiment, broken.settings);
        unsigned races = 0;
        for (const Finding& finding : findings_of(live)) {
            if (finding.kind != FindingKind::race) continue;
            ++races;
            ASSERT_TRUE(finding.witness);
            // With none at all, no shorter order is left to be tried.
            EXPECT_EQ(finding.witness->preemptions, 0u) << finding.witness->sentence.english();
        }
        EXPECT_GE(races, 1u);
    }
}

TEST(FindWitnesses, TheLaunchOfTheReplayHasTheTurnsOfTheFile) {
    const Broken broken{"ripple", {{"size", "64"}, {"sync", "off"}}};
    Live live(broken.experiment, broken.settings);
    const Finding finding = findings_of(live).at(0);
    ASSERT_TRUE(finding.witness);
    compute::RunSettings run;
    run.turns = std::make_shared<emulator::ScheduleFile>(
        emulator::ScheduleFile::parse(finding.witness->schedule, "x"));
    const Specimen specimen(LaunchState(live.entry(), live.experiment(), run));
    const emulator::LaunchSettings& settings = specimen.launch().settings;
    EXPECT_EQ(settings.schedule, emulator::Schedule::manual);
    EXPECT_EQ(settings.turns_of_block, 0u);
}

TEST(FindWitnesses, ARaceOfTwoBlocksOfALargeLaunchIsSearchedInTheirOrders) {
    Live live("ripple", {{"size", "64"}});
    Finding finding{.first = {.file = "a.cu", .line = 1, .thread = {}, .block = {0, 0, 0}},
                    .second = emulator::ThreadAtLine{
                        .file = "a.cu", .line = 2, .thread = {}, .block = {1, 0, 0}}};
    std::vector<Finding> findings{finding};
    find_witnesses(findings, LaunchState(live.entry(), live.experiment(), {}),
                   std::chrono::milliseconds(200));
    ASSERT_TRUE(findings[0].witness);
    EXPECT_FALSE(findings[0].witness->preemptions);
    const std::string sentence = findings[0].witness->sentence;
    EXPECT_NE(sentence.find("orders of the warps of blocks (0,0,0), (1,0,0)"), std::string::npos)
        << sentence;
}

}  // namespace
}  // namespace warpscope::experiments
