#include "ui/microscope/listing.h"

#include <gtest/gtest.h>

namespace warpscope::ui {
namespace {

// A listing of 400 pixels shows 40 lines of 10; the margin is 30.
TEST(ListingTest, ALineInSightStaysWhereItIs) {
    EXPECT_EQ(scroll_into_sight(130, 10, 100, 400), 100);
    EXPECT_EQ(scroll_into_sight(460, 10, 100, 400), 100);
}

TEST(ListingTest, ANearLineComesIntoSightAndNoFarther) {
    EXPECT_EQ(scroll_into_sight(120, 10, 100, 400), 90);
    EXPECT_EQ(scroll_into_sight(480, 10, 100, 400), 120);
    EXPECT_EQ(scroll_into_sight(0, 10, 300, 400), -30) << "the caller begins at 0";
}

TEST(ListingTest, AFarLineComesIntoTheUpperHalf) {
    EXPECT_EQ(scroll_into_sight(2000, 10, 100, 400), 2000 - 160);
    EXPECT_EQ(scroll_into_sight(500, 10, 3000, 400), 500 - 160);
}

TEST(ListingTest, ALowListingHasASmallerMargin) {
    EXPECT_EQ(scroll_into_sight(100, 10, 0, 40), 100 - 16);
    EXPECT_EQ(scroll_into_sight(30, 10, 0, 40), 10);
}

}  // namespace
}  // namespace warpscope::ui
