#include "bench/bench_emulator.h"

#include <gtest/gtest.h>

namespace warpscope::bench {
namespace {

TEST(EmulatorRows, TimesAreComparedAsTimes) {
    std::vector<BenchRow> rows;
    add_rows(rows, {.name = "ripple", .label = "ripple 64²", .wanted = 2.5}, {6, 2});
    ASSERT_EQ(rows.size(), 3U);
    EXPECT_EQ(rows[0].name, "ripple_emulated_ms");
    EXPECT_EQ(rows[0].label, "ripple 64², emulated");
    EXPECT_EQ(rows[0].value, 6);
    EXPECT_EQ(rows[1].name, "ripple_scalar_ms");
    EXPECT_EQ(rows[1].value, 2);
    EXPECT_EQ(rows[2].name, "ripple_ratio");
    EXPECT_EQ(rows[2].label, "ripple 64², emulated : plain, time");
    EXPECT_EQ(rows[2].value, 3);
    EXPECT_FALSE(rows[2].reached()) << "3 times as long as the loop, at most 2.5 are wanted";
}

TEST(EmulatorRows, RatesAreComparedAsSpeeds) {
    std::vector<BenchRow> rows;
    const Measured kernel{
        .name = "sum", .label = "sum", .work = 0.012, .unit = "GB/s", .wanted = 0.3};
    add_rows(rows, kernel, {6, 2});
    ASSERT_EQ(rows.size(), 3U);
    EXPECT_EQ(rows[0].name, "sum_emulated_rate");
    EXPECT_DOUBLE_EQ(rows[0].value, 2) << "0.012 GB in 6 ms";
    EXPECT_EQ(rows[0].unit, "GB/s");
    EXPECT_DOUBLE_EQ(rows[1].value, 6);
    EXPECT_EQ(rows[2].label, "sum, emulated : plain, speed");
    EXPECT_DOUBLE_EQ(rows[2].value, 1.0 / 3);
    EXPECT_TRUE(rows[2].reached()) << "at least 0.3 is wanted";
    add_rows(rows, {.name = "x", .label = "x"}, {6, 2});
    EXPECT_EQ(rows.back().bound, BenchRow::Bound::none);
}

TEST(EmulatorRows, ARunWithoutARaceHasRatiosOfItsObservers) {
    const auto device = make_emulator(compute::Math::precise);
    EXPECT_EQ(device->settings().math, compute::Math::precise);
    std::vector<BenchRow> rows;
    int runs = 0, observed = 0;
    const auto run = [&] {
        ++runs;
        emulator::Observer* const observer = device->observe(nullptr);
        if (observer) ++observed;
        device->observe(observer);
    };
    add_observed_rows(rows, *device, {.name = "x", .label = "x"}, run, 1.5);
    EXPECT_EQ(4 * observed, 3 * runs) << "tracked, without observers, with heat map, with counters";
    ASSERT_EQ(rows.size(), 2U);
    EXPECT_EQ(rows[0].name, "x_tracked_ratio");
    EXPECT_EQ(rows[0].wanted, 1.5);
    EXPECT_EQ(rows[1].name, "x_heat_ratio");
}

TEST(MeasurePair, RunsBothSidesEquallyOften) {
    std::string order;
    measure_pair([&] { order += 'a'; }, [&] { order += 'b'; });
    // Two warm-ups and 15 measurements, of two runs each.
    std::string expected;
    for (int i = 0; i < 17; ++i) expected += "aabb";
    EXPECT_EQ(order, expected);
}

}  // namespace
}  // namespace warpscope::bench
