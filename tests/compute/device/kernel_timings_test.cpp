#include "compute/device/kernel_timings.h"

#include <gtest/gtest.h>

namespace warpscope::compute {
namespace {

TEST(KernelTimings, QuantilesAreNearestRank) {
    KernelTimings timings;
    for (int ms = 101; ms >= 1; --ms) timings.record("k", {4}, {64}, {}, {}, float(ms));
    const KernelTiming& k = *timings.find("k");
    EXPECT_EQ(k.launches, 101u);
    EXPECT_EQ(k.last_ms(), 1.0f);
    EXPECT_EQ(k.median_ms(), 50.0f);
    EXPECT_EQ(k.p99_ms(), 99.0f);
    EXPECT_EQ(k.quantile_ms(1.0), 100.0f);
    EXPECT_EQ(k.quantile_ms(0.001), 1.0f);
}

// The first launch loads the kernel, which takes a hundred times as long as a launch.
TEST(KernelTimings, TheTimeOfTheFirstLaunchIsDroppedAtTheSecond) {
    KernelTimings timings;
    timings.record("k", {1}, {1}, {}, {}, 500);
    EXPECT_TRUE(timings.find("k")->cold());
    EXPECT_EQ(timings.find("k")->median_ms(), 500.0f);
    timings.record("k", {1}, {1}, {}, {}, 3);
    EXPECT_FALSE(timings.find("k")->cold());
    EXPECT_EQ(timings.find("k")->recent_ms, std::vector<float>{3});
    timings.record("k", {1}, {1}, {}, {}, 2);
    EXPECT_EQ(timings.find("k")->recent_ms, (std::vector<float>{3, 2}));
    EXPECT_EQ(timings.find("k")->p99_ms(), 3.0f);
    EXPECT_EQ(timings.find("k")->launches, 3u);
}

// A rate must not combine the new work with times of the old work.
TEST(KernelTimings, AnotherShapeOrWorkStartsNewTimes) {
    KernelTimings timings;
    for (float ms : {9.0f, 5.0f, 5.0f}) timings.record("k", {64}, {32}, {}, {.bytes = 5e6}, ms);
    timings.record("k", {64}, {32}, {}, {.bytes = 1e6}, 1);
    EXPECT_EQ(timings.find("k")->recent_ms, std::vector<float>{1});
    EXPECT_DOUBLE_EQ(timings.find("k")->bytes_per_second(), 1e9);
    timings.record("k", {32}, {64}, {}, {.bytes = 1e6}, 2);
    EXPECT_EQ(timings.find("k")->recent_ms, std::vector<float>{2});
    timings.record("k", {32}, {64}, {}, {.bytes = 1e6}, 3);
    EXPECT_EQ(timings.find("k")->recent_ms, (std::vector<float>{2, 3}));
    EXPECT_EQ(timings.find("k")->launches, 6u);
}

TEST(KernelTimings, KeepsOnlyTheNewestTimes) {
    KernelTimings timings;
    for (std::size_t i = 0; i < KernelTiming::window + 10; ++i)
        timings.record("k", {1}, {1}, {}, {}, float(i));
    const KernelTiming& k = *timings.find("k");
    ASSERT_EQ(k.recent_ms.size(), KernelTiming::window);
    EXPECT_EQ(k.recent_ms.front(), 10.0f);
    EXPECT_EQ(k.launches, KernelTiming::window + 10);
}

TEST(KernelTimings, RatesUseTheMedianTime) {
    KernelTimings timings;
    const Work work{.bytes = 8e6, .interactions = 1e6};
    for (float ms : {9.0f, 4.0f, 2.0f, 100.0f}) timings.record("k", {1}, {1}, {}, work, ms);
    const KernelTiming& k = *timings.find("k");
    EXPECT_DOUBLE_EQ(k.bytes_per_second(), 2e9);
    EXPECT_DOUBLE_EQ(k.interactions_per_second(), 2.5e8);
    EXPECT_DOUBLE_EQ(k.flops_per_second(), 0);
}

TEST(KernelTimings, KeepsTheOrderOfFirstLaunchesAndTheNewestShape) {
    KernelTimings timings;
    timings.record("b", {1}, {32}, {}, {}, 1);
    timings.record("a", {1}, {32}, {}, {}, 1);
    timings.record("b", {7, 5}, {16, 16}, {.shared_bytes = 1024, .registers = 40}, {}, 1);
    ASSERT_EQ(timings.kernels().size(), 2u);
    EXPECT_EQ(timings.kernels()[0].name, "b");
    EXPECT_EQ(timings.kernels()[0].grid.count(), 35u);
    EXPECT_EQ(timings.kernels()[0].block.count(), 256u);
    EXPECT_EQ(timings.kernels()[0].resources.shared_bytes, 1024u);
    EXPECT_EQ(timings.kernels()[0].resources.registers, 40u);
    EXPECT_EQ(timings.find("c"), nullptr);
}

TEST(KernelTimings, RatesWithoutTimesAreZero) {
    const KernelTiming none;
    EXPECT_EQ(none.median_ms(), 0.0f);
    EXPECT_EQ(none.bytes_per_second(), 0.0);
}

}  // namespace
}  // namespace warpscope::compute
