#include "compute/device/number_text.h"

#include <gtest/gtest.h>

namespace warpscope::compute {
namespace {

TEST(Sentences, PluralsFollowTheNumber) {
    EXPECT_EQ(plural(0, "block"), "0 blocks");
    EXPECT_EQ(plural(1, "block"), "1 block");
    EXPECT_EQ(plural(2, "warp instruction"), "2 warp instructions");
    EXPECT_EQ(plural(1, "pass"), "1 pass");
    EXPECT_EQ(plural(3, "pass"), "3 passes");
    EXPECT_EQ(plural(3, "launch"), "3 launches");
    EXPECT_EQ(plural(18446744073709551615ULL, "hazard"), "18446744073709551615 hazards");
    EXPECT_EQ(noun(1, "hazard"), "hazard");
}

TEST(Sentences, HaveOneFullStop) {
    EXPECT_EQ(sentence("It failed"), "It failed.");
    EXPECT_EQ(sentence("It failed."), "It failed.");
}

}  // namespace
}  // namespace warpscope::compute
