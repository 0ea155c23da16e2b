#include "jobs/debugger/breakpoints.h"

#include <gtest/gtest.h>

namespace warpscope::jobs {
namespace {

TEST(HitsHold, CountsPasses) {
    EXPECT_TRUE(hits_hold("", 1));
    EXPECT_FALSE(hits_hold("3", 2));
    EXPECT_TRUE(hits_hold("3", 4));
    EXPECT_FALSE(hits_hold("== 3", 4));
    EXPECT_TRUE(hits_hold("% 3", 6));
    EXPECT_FALSE(hits_hold("% 3", 5));
    EXPECT_TRUE(hits_hold("> 3", 4));
    EXPECT_FALSE(hits_hold("<=3", 4));
    for (const char* wrong : {"x", "% 0", "3x", ">", "= 3"})
        EXPECT_THROW(hits_hold(wrong, 1), launches::LaunchError) << wrong;
}

}  // namespace
}  // namespace warpscope::jobs
