#include "ui/timeline/lanes.h"

#include <gtest/gtest.h>

#include <string>

namespace warpscope::ui {
namespace {

using emulator::BarrierWait;
using emulator::MemoryAccess;
using emulator::Space;
using emulator::Step;

constexpr std::uint32_t add = 0, load = 1, store = 2, global_load = 3, bar = 4;

/// A kernel of five instructions: arithmetic, shared load and store, global load, barrier.
emulator::Kernel kernel() {
    emulator::Kernel k;
    k.lines.resize(5);
    k.lines[load].access = MemoryAccess::load;
    k.lines[load].space = Space::shared;
    k.lines[store].access = MemoryAccess::store;
    k.lines[store].space = Space::shared;
    k.lines[global_load].access = MemoryAccess::load;
    k.lines[global_load].space = Space::global;
    k.lines[bar].barrier = true;
    return k;
}

Step step(unsigned warp, std::uint32_t pc) {
    Step s;
    s.warp = std::uint8_t(warp);
    s.pc = pc;
    s.mask = 0xffffffff;
    return s;
}

/// A lane as one letter a column.
std::string lane(const WarpLanes& lanes, unsigned warp) {
    std::string letters;
    for (unsigned c = 0; c < lanes.columns; ++c)
        letters += " .cwrB"[std::size_t(lanes.at(warp, c))];
    return letters;
}

// Warp 0 stores and waits; warp 1 computes, stores and releases it; both load.
const std::vector<Step> exchange{step(0, global_load), step(0, store), step(0, bar),
                                 step(1, add),         step(1, store), step(1, bar),
                                 step(1, load),        step(0, load)};
const std::vector<BarrierWait> waits{{0, 0xffffffff, bar, 2, 5}, {1, 0xffffffff, bar, 5, 5}};

TEST(WarpLanes, OneColumnForEachStep) {
    const WarpLanes lanes = warp_lanes(kernel(), exchange, waits, 2, 8);
    EXPECT_EQ(lanes.steps, 8U);
    EXPECT_EQ(lane(lanes, 0), "cwcBB..r");
    EXPECT_EQ(lane(lanes, 1), "   cwcr ");
}

TEST(WarpLanes, SeveralColumnsForEachStep) {
    const WarpLanes lanes = warp_lanes(kernel(), exchange, waits, 2, 16);
    EXPECT_EQ(lane(lanes, 0), "ccwwccBBBB....rr");
    EXPECT_EQ(lane(lanes, 1), "      ccwwccrr  ");
}

TEST(WarpLanes, RareActivitiesStayVisible) {
    std::vector<Step> steps(100, step(0, add));
    steps[37] = step(0, store);
    steps[62] = step(0, load);
    const WarpLanes lanes = warp_lanes(kernel(), steps, {}, 1, 10);
    // One load of ten steps is no reading; one store is.
    EXPECT_EQ(lane(lanes, 0), "cccwcccccc");
    steps[60] = steps[61] = step(0, load);
    EXPECT_EQ(lane(warp_lanes(kernel(), steps, {}, 1, 10), 0), "cccwccrccc");
}

TEST(WarpLanes, ManyShortWaitsInAColumnAddUp) {
    std::vector<Step> steps;
    std::vector<BarrierWait> all;
    for (std::uint64_t i = 0; i < 100; i += 5) {
        steps.push_back(step(0, bar));
        all.push_back({0, 0xffffffff, bar, i, i + 4});
        for (int k = 0; k < 4; ++k) steps.push_back(step(1, add));
    }
    EXPECT_EQ(lane(warp_lanes(kernel(), steps, all, 2, 4), 0), "BBBB");
}

TEST(WarpLanes, StepsOfOtherLanesStayVisibleWhileSomeLanesWait) {
    std::vector<Step> steps{step(0, bar)};
    for (int k = 0; k < 9; ++k) steps.push_back(step(0, add));
    const std::vector<BarrierWait> part{{0, 0xffff, bar, 0, 10}};
    EXPECT_EQ(lane(warp_lanes(kernel(), steps, part, 1, 5), 0), "ccccc");
}

TEST(WarpLanes, AnEndlessWaitReachesTheLastColumn) {
    const std::vector<Step> steps{step(0, bar), step(1, add), step(1, add), step(1, add)};
    const std::vector<BarrierWait> hangs{{0, 0xffffffff, bar, 0, 4}};
    EXPECT_EQ(lane(warp_lanes(kernel(), steps, hangs, 2, 4), 0), "cBBB");
}

TEST(WarpLanes, WithoutStepsAllColumnsAreOver) {
    const WarpLanes lanes = warp_lanes(kernel(), {}, {}, 2, 3);
    EXPECT_EQ(lane(lanes, 1), "   ");
}

TEST(WarpLanes, ARangeShowsTheColumnsOfItsStepsAlone) {
    // Warp 0 computes, warp 1 loads, warp 0 waits from step 3 to 7, and stores.
    const std::vector<Step> steps{step(0, add),  step(1, load), step(0, bar), step(0, bar),
                                  step(1, load), step(1, load), step(1, bar), step(0, store)};
    const std::vector<BarrierWait> waits{{.warp = 0, .from = 3, .to = 7}};
    const WarpLanes all = warp_lanes(kernel(), steps, waits, 2, 8);
    for (const StepRange range : {StepRange{0, 8}, StepRange{2, 4}, StepRange{5, 3}}) {
        const WarpLanes part = warp_lanes(kernel(), steps, waits, 2, unsigned(range.count), range);
        for (unsigned warp = 0; warp < 2; ++warp)
            EXPECT_EQ(lane(part, warp), lane(all, warp).substr(range.first, range.count))
                << range.first << " " << warp;
    }
}

// Warp 0 looks for a phase in steps 1, 3 and 5, and sees it in step 7.
TEST(WarpLanes, StepsThatLookAgainCountAsWaiting) {
    std::vector<Step> history;
    for (unsigned k = 0; k < 8; ++k) history.push_back(step(k % 2 ? 0 : 1, add));
    const BarrierWait wait{.warp = 0, .from = 1, .to = 7, .at = BarrierWait::At::mbarrier};
    const WarpLanes lanes = warp_lanes(kernel(), history, std::vector{wait}, 2, 8);
    for (const unsigned looks : {3u, 5u}) EXPECT_EQ(lanes.at(0, looks), LaneCell::waiting);
    EXPECT_EQ(lanes.at(0, 1), LaneCell::computing) << "the first look";
    EXPECT_EQ(lanes.at(0, 7), LaneCell::computing) << "the look that sees it";
    EXPECT_EQ(lanes.at(1, 4), LaneCell::computing);
}

}  // namespace
}  // namespace warpscope::ui
