#include "jobs/bench/bench.h"

#include <gtest/gtest.h>

namespace warpscope::jobs {
namespace {

TEST(Bench, MedianIsTheMiddleValue) {
    EXPECT_EQ(median({}), 0);
    EXPECT_EQ(median({3}), 3);
    EXPECT_EQ(median({9, 1, 5}), 5);
    EXPECT_EQ(median({100, 1, 2, 3, 4}), 3);
}

TEST(Bench, ReachedComparesWithUpperAndLowerBounds) {
    BenchRow row{.name = "", .label = "", .value = 2.6, .unit = "x", .wanted = 2.6};
    EXPECT_TRUE(row.reached());
    row.bound = BenchRow::Bound::at_most;
    EXPECT_TRUE(row.reached());
    row.value = 2.61;
    EXPECT_FALSE(row.reached());
    row.bound = BenchRow::Bound::at_least;
    EXPECT_TRUE(row.reached());
    row.value = 2.59;
    EXPECT_FALSE(row.reached());
}

}  // namespace
}  // namespace warpscope::jobs
