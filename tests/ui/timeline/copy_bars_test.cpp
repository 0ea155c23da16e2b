#include "ui/timeline/lanes.h"

#include <gtest/gtest.h>

#include "ui/microscope_tile/copies_rows.h"

namespace warpscope::ui {
namespace {

using emulator::BlockMark;
using emulator::Completion;
using emulator::CopyFlight;

CopyFlight copy(std::uint32_t warp, std::uint32_t group, std::uint64_t from, std::uint64_t to) {
    return {.warp = warp, .bytes = 512, .from = from, .to = to, .group = group};
}

TEST(CopyBars, CopiesOfOneGroupAreOneBarAndBarsInFlightTogetherHaveRows) {
    const std::vector<CopyFlight> copies{copy(0, 0, 10, 40), copy(1, 0, 12, 44), copy(0, 1, 20, 50),
                                         copy(0, 2, 44, 60), copy(1, 2, 45, 46)};
    const std::vector<CopyBar> bars = copy_bars(copies, 8);
    ASSERT_EQ(bars.size(), 3u);
    EXPECT_EQ(bars[0].count, 2u);
    EXPECT_EQ(bars[0].bytes, 1024u);
    EXPECT_EQ(bars[0].warps, 0b11u);
    EXPECT_EQ(bars[0].first.from, 10u);
    EXPECT_EQ(bars[0].first.to, 44u);
    EXPECT_EQ(bars[0].row, 0u);
    EXPECT_EQ(bars[1].row, 1u);
    EXPECT_EQ(bars[2].row, 0u) << "group 0 has landed";
    EXPECT_EQ(bars[2].first.to, 60u);
    EXPECT_EQ(rows_of(bars), 2u);
    EXPECT_EQ(rows_of(copy_bars(copies, 1)), 1u);
    EXPECT_EQ(copy_bars({}, 4).size(), 0u);
}

TEST(CopyBars, CopiesOfAGroupThatAreNotInFlightTogetherAreTwoBars) {
    const std::vector<CopyFlight> copies{copy(0, 0, 10, 40), copy(0, 0, 41, 50)};
    const std::vector<CopyBar> bars = copy_bars(copies, 8);
    ASSERT_EQ(bars.size(), 2u);
    EXPECT_EQ(bars[0].first.to, 40u);
    EXPECT_EQ(bars[1].first.from, 41u);
}

TEST(CopyBars, PhasesOfAnMbarrierAreBarsOfTheirOwn) {
    CopyFlight first{.lane = 0, .bytes = 1024, .from = 5, .to = 9};
    first.completion = Completion::mbarrier;
    first.mbarrier = 64;
    first.to_stepped = true;
    CopyFlight second = first;
    second.phase = 1;
    second.from = 20;
    second.to = 100;
    const std::vector<CopyBar> bars = copy_bars(std::vector{first, second}, 4);
    ASSERT_EQ(bars.size(), 2u);
    EXPECT_EQ(name_of(second), "mbarrier at byte 64, phase 1");
    EXPECT_EQ(words_of(bars[0], 100),
              "mbarrier at byte 64, phase 0\n1 bulk copy of warp 0: 1024 bytes, to shared memory\n"
              "in flight from step 6 to step 10");
    EXPECT_TRUE(words_of(bars[1], 100).ends_with("from step 21, not landed"));
}

TEST(CopyBars, MomentsNameTheBlockAndTheThread) {
    EXPECT_EQ(words_of(BlockMark{.kind = BlockMark::arrival_from_other,
                                 .step = 7,
                                 .rank = 3,
                                 .thread = 32,
                                 .mbarrier = 16,
                                 .phase = 2}),
              "step 8: thread 32 of block 3 of the cluster arrives at the mbarrier at byte 16, "
              "phase 2");
    EXPECT_EQ(words_of(BlockMark{.kind = BlockMark::cluster_phase, .step = 0, .phase = 1}),
              "step 1: all threads have arrived at the barrier of the cluster (phase 1)");
}

}  // namespace
}  // namespace warpscope::ui
