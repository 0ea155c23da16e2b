#include "ui/widgets/format.h"

#include <gtest/gtest.h>

namespace warpscope::ui {
namespace {

TEST(GridTest, DimensionsOfOneAtTheEndAreLeftOut) {
    EXPECT_EQ(grid_by_block({64, 64, 1}, {16, 16, 1}), "64×64 · 16×16");
    EXPECT_EQ(grid_by_block({32, 1, 1}, {256, 1, 1}), "32 · 256");
    EXPECT_EQ(grid_by_block({}, {}), "-");  // timed together, of no one shape
    EXPECT_EQ(dimensions({4, 1, 2}), "4×1×2");
}

TEST(RoundedTest, StaysWithinTheRange) {
    EXPECT_EQ(rounded(0.123456, 0, 1), "0.123");
    EXPECT_EQ(rounded(0.9999, 0, 0.9999), "0.9999");
    EXPECT_EQ(rounded(0.00123449, 0.0012344, 1), "0.0012344");
}

TEST(OneLineTest, RunsOfBlanksBecomeOneSpace) {
    EXPECT_EQ(one_line("ld.shared.f32 \t%f1, [%r2]"), "ld.shared.f32 %f1, [%r2]");
    EXPECT_EQ(one_line("\n\tret"), "ret");
    EXPECT_EQ(one_line(""), "");
}

}  // namespace
}  // namespace warpscope::ui
