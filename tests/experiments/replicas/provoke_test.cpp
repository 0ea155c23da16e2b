#include "experiments/replicas/provoke.h"

#include <gtest/gtest.h>

#include "experiments/live.h"

namespace warpscope::experiments {
namespace {

using emulator::Finding;
using tests::Live;

/// Makes emulators that run the warps of a block in turns of a random length.
std::unique_ptr<compute::Device> emulator_of(const compute::RunSettings& settings,
                                             compute::KernelEdits edits) {
    return compute::make_emulated_device({.settings = settings, .edits = std::move(edits)});
}

std::vector<Finding> provoked(Live& live, const compute::RunSettings& run, unsigned launches) {
    std::vector<Finding> found = live.inspection().verdict.findings;
    provoke(found, LaunchState(live.entry(), live.experiment(), run), launches, emulator_of);
    return found;
}

// All warps that run to their barrier in turn add up what they have stored; a warp that waits
// stores too late for the warps that read it.
TEST(Provoke, AWaitMakesEachLaunchWrong) {
    for (const char* const kernel : {"no_first_barrier", "no_loop_barrier"}) {
        SCOPED_TRACE(kernel);
        Live live("dot", {{"n", "300"}, {"kernel", kernel}});
        unsigned launched = 0;
        for (const Finding& finding : provoked(live, {.schedule = emulator::Schedule::random}, 3)) {
            if (finding.kind != emulator::FindingKind::race) continue;
            ASSERT_TRUE(finding.provocation);
            if (finding.provocation->launches == 0) continue;  // of one warp
            ++launched;
            EXPECT_EQ(finding.provocation->launches, 3u);
            EXPECT_EQ(finding.provocation->wrong_delayed, 3u)
                << finding.provocation->sentence.english();
        }
        EXPECT_GE(launched, 1u);
    }
}

TEST(Provoke, TheKernelOfALaunchFileWaitsToo) {
    Live live("single_buffer", {{"width", "64"}, {"height", "48"}});
    unsigned launched = 0;
    for (const Finding& finding : provoked(live, {.schedule = emulator::Schedule::random}, 2)) {
        if (finding.kind != emulator::FindingKind::race) continue;
        ASSERT_TRUE(finding.provocation);
        launched += finding.provocation->launches;
        if (finding.provocation->launches > 0) {
            EXPECT_EQ(finding.provocation->wrong_delayed, 2u)
                << finding.provocation->sentence.english();
        }
    }
    EXPECT_GE(launched, 2u);
}

TEST(Provoke, LanesOfOneWarpAreLeftAlone) {
    Live live("ripple", {{"size", "64"}});
    std::vector<Finding> findings{
        {.kernel = "ripple_txty",
         .first = {.file = "a.cu", .line = 1, .thread = {0, 0, 0}, .block = {0, 0, 0}},
         .second = emulator::ThreadAtLine{
             .file = "a.cu", .line = 2, .thread = {1, 0, 0}, .block = {0, 0, 0}}}};
    provoke(findings, LaunchState(live.entry(), live.experiment(), {}), 1, emulator_of);
    ASSERT_TRUE(findings[0].provocation);
    EXPECT_TRUE(
        findings[0].provocation->sentence.english().starts_with("Both accesses are of one warp"));
}

}  // namespace
}  // namespace warpscope::experiments
