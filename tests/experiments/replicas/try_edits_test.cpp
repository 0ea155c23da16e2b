#include "experiments/replicas/try_edits.h"

#include <gtest/gtest.h>

#include "emulator/stepper/stepper.h"
#include "experiments/replicas/specimen.h"
#include "support/waits_kernel.h"

namespace warpscope::experiments {
namespace {

using emulator::Dim3;
using emulator::SplitView;
using emulator::Stepper;

EditResult try_source(const std::string& source) {
    compute::Helpers helpers("/proc/self/exe");  // starts nothing: an emulator runs in this process
    const SharedEntry entry = tests::waits_entry();
    const auto blank = compute::make_emulated_device("");
    const EditRequest request{.entry = entry,
                              .like = blank->info(),
                              .settings = {},
                              .sources = {{"launch/waits", source}},
                              .snapshot = entry->make(*blank)->snapshot(),
                              .view = {64, 48}};
    return try_edits(helpers, request);
}

bool contains(const std::string& text, const char* part) {
    return text.find(part) != std::string::npos;
}

TEST(TryEdits, AKernelThatRunsHasNotFailed) {
    const EditResult result = try_source("good");
    EXPECT_EQ(result.error, "");
    EXPECT_NE(result.running.experiment, nullptr);
    EXPECT_FALSE(result.failed);
}

TEST(TryEdits, ADeadlockLeavesTheExperimentBeforeTheFrameThatFailed) {
    EditResult result = try_source("deadlock");
    EXPECT_TRUE(contains(result.error, "deadlock in block (2,0,0)")) << result.error;
    EXPECT_EQ(result.running.experiment, nullptr);
    ASSERT_TRUE(result.failed);
    EXPECT_EQ(result.failed->block, (Dim3{2, 0, 0}));
    Experiment& stopped = *result.failed->running.experiment;
    EXPECT_EQ(stopped.frame(), 0U);
    // The last launch was chosen, but the first one fails.
    EXPECT_EQ(stopped.parameters().find("launch").text(), "0");

    Specimen specimen(*result.failed->entry, stopped);
    Stepper stepper(specimen.machine(), specimen.launch(), 2);
    stepper.run();
    EXPECT_EQ(stepper.end(), Stepper::End::failed);
    for (const auto& [warp, barrier] : {std::pair(0U, 2U), std::pair(1U, 1U)}) {
        const auto splits = stepper.warp(warp).splits;
        ASSERT_EQ(splits.size(), 1U);
        EXPECT_EQ(splits[0].state, SplitView::State::at_barrier);
        EXPECT_EQ(splits[0].mask, ~0U);
        EXPECT_EQ(splits[0].barrier, barrier);
    }
}

TEST(TryEdits, TheChecksFindTheDeadlock) {
    EditResult result = try_source("deadlock");
    ASSERT_TRUE(result.failed);
    Experiment& failed = *result.failed->running.experiment;
    const Inspection inspection =
        inspect({*result.failed->entry, failed, failed.device().settings()});
    ASSERT_EQ(inspection.verdict.findings.size(), 1U);
    EXPECT_EQ(inspection.verdict.findings[0].kind, emulator::FindingKind::barrier);
    EXPECT_EQ(inspection.verdict.findings[0].first.block, (Dim3{2, 0, 0}));
    EXPECT_TRUE(contains(inspection.verdict.error, "deadlock in block (2,0,0)"))
        << inspection.verdict.error.english();
}

TEST(TryEdits, AWriteOutsideOfABufferNamesItsBlock) {
    const EditResult result = try_source("outside");
    EXPECT_TRUE(contains(result.error, "thread (63,0,0) of block (3,0,0)")) << result.error;
    ASSERT_TRUE(result.failed);
    EXPECT_EQ(result.failed->block, (Dim3{3, 0, 0}));
}

}  // namespace
}  // namespace warpscope::experiments
