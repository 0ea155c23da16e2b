#include "ui/timeline/lanes.h"

#include <gtest/gtest.h>

namespace warpscope::ui {
namespace {

TEST(TimeRange, AZoomKeepsThePlaceUnderTheMouse) {
    // 100 of 1000 steps from 400 on; step 425 is at a quarter.
    const TimeRange range{400, 100};
    EXPECT_EQ(zoomed(range, 425, 0.5, 16, 1000), (TimeRange{412.5, 50}));
    EXPECT_EQ(zoomed(range, 425, 2, 16, 1000), (TimeRange{375, 200}));
    EXPECT_EQ(zoomed(range, 400, 0.01, 16, 1000), (TimeRange{400, 16}));
}

TEST(TimeRange, AZoomEndsAtTheWholeTimeline) {
    EXPECT_EQ(zoomed({400, 100}, 425, 100, 16, 1000), (TimeRange{0, 1000}));
    EXPECT_EQ(zoomed({950, 50}, 1000, 2, 16, 1000), (TimeRange{900, 100}));
    EXPECT_EQ(zoomed({0, 10}, 5, 0.5, 16, 10), (TimeRange{0, 10})) << "a short timeline";
    EXPECT_EQ(zoomed({0, 0}, 0, 0.5, 16, 0), (TimeRange{0, 0})) << "an empty timeline";
}

TEST(TimeRange, StaysInsideATimelineThatHasBecomeShorter) {
    EXPECT_EQ(inside({}, 70), (TimeRange{0, 70})) << "none: all of it";
    EXPECT_EQ(inside({40, 20}, 100), (TimeRange{40, 20}));
    EXPECT_EQ(inside({40, 20}, 50), (TimeRange{30, 20}));
    EXPECT_EQ(inside({40, 60}, 50), (TimeRange{0, 50}));
    EXPECT_EQ(inside({-5, 20}, 50), (TimeRange{0, 20}));
}

}  // namespace
}  // namespace warpscope::ui
