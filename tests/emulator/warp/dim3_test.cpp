#include "emulator/program/launch.h"

#include <gtest/gtest.h>

namespace warpscope::emulator {
namespace {

TEST(Dim3Index, CountsXFirstThenYThenZ) {
    constexpr Dim3 extent{4, 3, 2};
    EXPECT_EQ(index_in(extent, 0), (Dim3{0, 0, 0}));
    EXPECT_EQ(index_in(extent, 7), (Dim3{3, 1, 0}));
    EXPECT_EQ(index_in(extent, 12), (Dim3{0, 0, 1}));
    EXPECT_EQ(linear_in(extent, {3, 1, 0}), 7U);
    EXPECT_EQ(linear_in(extent, {0, 0, 1}), 12U);
    EXPECT_EQ(linear_in(extent, {3, 2, 1}), 23U);
}

}  // namespace
}  // namespace warpscope::emulator
