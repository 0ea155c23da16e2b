#include "ui/layout.h"

#include <gtest/gtest.h>

#include <array>

namespace warpscope::ui {
namespace {

bool overlap(const Box& a, const Box& b) {
    return a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height &&
           b.y < a.y + a.height;
}

TEST(LayoutTest, PanelsFillTheWindowWithoutOverlap) {
    for (const auto [width, height, scale] :
         {std::array{1280.F, 720.F, 1.F}, {3840.F, 2160.F, 2.F}, {640.F, 480.F, 1.F}}) {
        const Layout l = lay_out(width, height, scale, ViewOptions());
        const std::array panels{l.top,     l.controls, l.transport, l.canvas,
                                l.results, l.dock,  l.foot};
        for (std::size_t i = 0; i < panels.size(); ++i) {
            EXPECT_GE(panels[i].x, 0);
            EXPECT_LE(panels[i].x + panels[i].width, width) << i;
            EXPECT_LE(panels[i].y + panels[i].height, height) << i;
            for (std::size_t j = 0; j < i; ++j)
                EXPECT_FALSE(overlap(panels[i], panels[j])) << width << ": " << i << " and " << j;
        }
    }
}

TEST(LayoutTest, ScaleTwoIsTheSameLayoutTwiceAsLarge) {
    const Layout one = lay_out(1920, 1080, 1, ViewOptions());
    const Layout two = lay_out(3840, 2160, 2, ViewOptions());
    EXPECT_FLOAT_EQ(two.canvas.x, 2 * one.canvas.x);
    EXPECT_FLOAT_EQ(two.canvas.height, 2 * one.canvas.height);
    EXPECT_EQ(screenshot_scale({1920, 1080}), 1);
    EXPECT_EQ(screenshot_scale({3840, 2160}), 2);
}

TEST(LayoutTest, TinyWindowsLeaveEveryPanelASize) {
    const Layout l = lay_out(16, 16, 1, ViewOptions());
    for (const Box& box : {l.top, l.controls, l.canvas, l.results, l.dock, l.foot}) {
        EXPECT_GT(box.width, 0);
        EXPECT_GT(box.height, 0);
    }
    const experiments::Size picture = picture_area({16, 16});
    EXPECT_GE(picture.width, 1);
    EXPECT_GE(picture.height, 1);
}

}  // namespace
}  // namespace warpscope::ui
