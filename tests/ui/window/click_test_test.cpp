#include "ui/window/click_test.h"

#include <gtest/gtest.h>

namespace warpscope::ui {
namespace {

using namespace std::chrono_literals;

/// A test of ten seconds that begins at `start_`, with a tab that is not chosen.
class ClickTestTest : public testing::Test {
  protected:
    ClickTestTest() {
        draw("off", 0ms);
        EXPECT_TRUE(input(0ms).empty()) << "the first press comes a second later";
    }
    std::vector<InputEvent> input(std::chrono::milliseconds at) { return test_.input(start_ + at); }
    /// A frame in which the tab has this value.
    void draw(const std::string& value, std::chrono::milliseconds at) {
        WidgetMap widgets;
        widgets.add({"title", 0, 0, 50, 10, "on"});
        widgets.add({"dock.hidden", 0, 0, 0, 0, "off", true, false});
        widgets.add({"dock.disabled", 0, 0, 10, 10, "off", false});
        widgets.add({"dock.tab", 100, 20, 40, 10, value});
        test_.frame_drawn(widgets, start_ + at);
    }

    ClickTest::Clock::time_point start_{};
    ClickTest test_{10s};
};

TEST_F(ClickTestTest, PressesTheMiddleOfAWidgetThatCanBePressed) {
    EXPECT_EQ(test_.seconds_until_input(start_ + 400ms), 0.6);
    const std::vector<InputEvent> events = input(1020ms);
    ASSERT_EQ(events.size(), 3U);
    EXPECT_EQ(events[0].kind, InputEvent::Kind::move);
    EXPECT_EQ(events[0].x, 120);
    EXPECT_EQ(events[0].y, 25);
    EXPECT_TRUE(events[1].down);
    EXPECT_FALSE(events[2].down);
    EXPECT_TRUE(input(1040ms).empty()) << "one press at a time";
}

TEST_F(ClickTestTest, CountsFromTheMomentOfThePressToTheFrameThatShowsItsEffect) {
    input(1020ms);  // the press was at 1000 ms, while the window was busy
    draw("off", 1050ms);
    EXPECT_TRUE(test_.latencies().empty());
    draw("on", 1080ms);
    EXPECT_EQ(test_.latencies(), std::vector<double>{80});
    EXPECT_EQ(test_.lost(), 0U);
}

TEST_F(ClickTestTest, APressWithoutAnEffectIsLost) {
    input(1s);
    draw("off", 5900ms);
    input(5900ms);
    EXPECT_EQ(test_.lost(), 0U);
    EXPECT_EQ(input(6001ms).size(), 3U) << "another press";
    EXPECT_EQ(test_.lost(), 1U);
}

TEST_F(ClickTestTest, CountsFrames) {
    EXPECT_EQ(test_.frames_per_second(), 0);
    draw("off", 500ms);
    draw("off", 2s);
    EXPECT_EQ(test_.frames_per_second(), 1);
}

TEST_F(ClickTestTest, EndsAfterItsLength) {
    EXPECT_FALSE(test_.over(start_ + 9999ms));
    EXPECT_TRUE(test_.over(start_ + 10s));
}

}  // namespace
}  // namespace warpscope::ui
