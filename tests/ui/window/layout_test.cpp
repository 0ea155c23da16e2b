#include "ui/window/layout.h"

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
        const std::array panels{l.top,   l.controls, l.transport, l.canvas,
                                l.strip, l.results,  l.dock,      l.foot};
        for (std::size_t i = 0; i < panels.size(); ++i) {
            EXPECT_GE(panels[i].x, 0);
            EXPECT_LE(panels[i].x + panels[i].width, width) << i;
            EXPECT_LE(panels[i].y + panels[i].height, height) << i;
            for (std::size_t j = 0; j < i; ++j)
                EXPECT_FALSE(overlap(panels[i], panels[j])) << width << ": " << i << " and " << j;
        }
    }
}

TEST(LayoutTest, TheOpenMicroscopeFillsTheWindowWithoutOverlap) {
    for (const auto [width, height, scale] :
         {std::array{1280.F, 720.F, 1.F}, {1600.F, 900.F, 1.F}, {3840.F, 2160.F, 2.F}}) {
        const Layout l = lay_out(width, height, scale, ViewOptions(), true);
        const std::array panels{l.top,    l.controls, l.transport, l.canvas, l.microscope,
                                l.source, l.warps,    l.tile,      l.dock,   l.foot};
        float area = 0;
        for (std::size_t i = 0; i < panels.size(); ++i) {
            EXPECT_GT(panels[i].width, 0);
            EXPECT_GT(panels[i].height, 0) << width << ": " << i;
            EXPECT_LE(panels[i].x + panels[i].width, width) << i;
            EXPECT_LE(panels[i].y + panels[i].height, height) << i;
            area += panels[i].width * panels[i].height;
            for (std::size_t j = 0; j < i; ++j)
                EXPECT_FALSE(overlap(panels[i], panels[j])) << width << ": " << i << " and " << j;
        }
        EXPECT_GT(area, 0.97F * width * height) << width;  // the rest is borders
        EXPECT_EQ(l.results.width, 0);
    }
}

TEST(LayoutTest, ANarrowWindowGivesTheOpenMicroscopeThePlaceOfThePicture) {
    const Layout l = lay_out(1280, 720, 2, ViewOptions(), true);
    EXPECT_EQ(l.canvas.width, 0);
    EXPECT_EQ(l.controls.width, 0);
    EXPECT_EQ(l.transport.width, 0);
    EXPECT_EQ(l.source.x, 0);
    EXPECT_EQ(l.warps.x + l.warps.width, 1280);
    EXPECT_EQ(l.warps.width, 512) << "two fifths";
}

TEST(LayoutTest, AMaximizedPanelFillsTheWindowIfItIsThere) {
    ViewOptions options;
    options.maximized = "dock";
    const Layout dock = lay_out(1600, 900, 1, options);
    EXPECT_EQ(dock.dock.width, 1600);
    EXPECT_EQ(dock.dock.y, dock.top.height);
    EXPECT_EQ(dock.dock.y + dock.dock.height, dock.foot.y);
    EXPECT_EQ(dock.controls.width, 0);
    EXPECT_EQ(dock.canvas.width, 0);
    options.maximized = "canvas";
    const Layout canvas = lay_out(1600, 900, 1, options);
    EXPECT_GT(canvas.transport.height, 0) << "its bar stays";
    EXPECT_EQ(canvas.canvas.width, 1600);
    EXPECT_EQ(canvas.dock.width, 0);
    options.maximized = "tile.panel";
    EXPECT_GT(lay_out(1600, 900, 1, options).dock.width, 0) << "the microscope is closed";
}

TEST(LayoutTest, TheEditorReplacesTheResultsAndTheMicroscopeReplacesBoth) {
    ViewOptions options;
    options.editor = true;
    for (const auto [width, height, scale] : {std::array{1280.F, 720.F, 1.F},
                                              {900.F, 600.F, 1.F},
                                              {3840.F, 2160.F, 2.F},
                                              {640.F, 480.F, 1.F}}) {
        const Layout l = lay_out(width, height, scale, options);
        const std::array panels{l.top,   l.controls, l.transport, l.canvas,
                                l.strip, l.editor,   l.dock,      l.foot};
        float area = 0;
        for (std::size_t i = 0; i < panels.size(); ++i) {
            EXPECT_LE(panels[i].x + panels[i].width, width) << i;
            area += panels[i].width * panels[i].height;
            for (std::size_t j = 0; j < i; ++j)
                EXPECT_FALSE(overlap(panels[i], panels[j])) << width << ": " << i << " and " << j;
        }
        EXPECT_GT(area, 0.97F * width * height) << width;  // the rest is borders
        EXPECT_EQ(l.results.width, 0);
        EXPECT_GE(l.canvas.width, 0.25F * width) << width;
        EXPECT_GE(l.editor.width, std::min(640 * scale, 0.45F * width)) << width;
        EXPECT_EQ(lay_out(width, height, scale, options, true).editor.width, 0);
    }
}

TEST(LayoutTest, TheSourceHasAUsefulSizeInASmallWindow) {
    ViewOptions options;
    options.editor = options.lessons = true;
    for (const bool folded : {true, false}) {
        options.dock_folded = folded;
        // 1280 x 720 at 200 %: 640 x 360 logical pixels, of which the editor's buttons take 60.
        const Layout l = lay_out(1280, 720, 2, options);
        EXPECT_GE(l.editor.width, 2 * 400);
        EXPECT_GE(l.editor.height, 2 * (folded ? 200 : 150));
        EXPECT_EQ(l.canvas.width, 0) << "the picture makes room";
        EXPECT_GT(l.transport.width, 0) << "it has the buttons of the side panels";
        const std::array panels{l.top, l.lessons, l.transport, l.editor, l.dock, l.foot};
        float area = 0;
        for (std::size_t i = 0; i < panels.size(); ++i) {
            area += panels[i].width * panels[i].height;
            for (std::size_t j = 0; j < i; ++j) EXPECT_FALSE(overlap(panels[i], panels[j])) << i;
        }
        EXPECT_GT(area, 0.97F * 1280 * 720);
        // Without the lessons the picture stays beside the source, which has the dock's height.
        options.lessons = false;
        const Layout beside = lay_out(1280, 720, 2, options);
        EXPECT_GE(beside.editor.height, 2 * 280);
        EXPECT_GE(beside.canvas.width, 2 * 300);
        EXPECT_LE(beside.dock.x + beside.dock.width, beside.editor.x);
        options.lessons = true;
        EXPECT_EQ(lay_out(1280, 720, 2, options, true).lessons.width, 0)
            << "the microscope takes their place";
        EXPECT_GT(lay_out(1280, 720, 1, options, true).lessons.width, 0);
    }
}

TEST(LayoutTest, EightWarpsAndATileHaveRoom) {
    const Layout small = lay_out(1280, 720, 1, ViewOptions(), true);
    EXPECT_GE(small.warps.height, 200);
    EXPECT_GE(small.tile.height, 200);
    const Layout large = lay_out(1600, 900, 1, ViewOptions(), true);
    EXPECT_GE(large.tile.height, large.tile.width);
}

TEST(LayoutTest, BordersAreWideEnoughForTheMouse) {
    ViewOptions options;
    options.dock_folded = false;
    const Layout l = lay_out(1280, 720, 1, options);
    EXPECT_GE(l.left_edge.width, 8);
    EXPECT_GE(l.right_edge.width, 8);
    EXPECT_GE(l.lower_edge.height, 8);
}

TEST(LayoutTest, AnOpenDockLeavesThePictureOfALowWindowItsRoom) {
    ViewOptions options;
    options.dock_folded = false;
    options.bottom = 400;
    EXPECT_GE(lay_out(800, 600, 1, options).canvas.height, 215);
    EXPECT_GE(lay_out(640, 480, 1, options).canvas.height, 140);
    EXPECT_EQ(lay_out(1600, 900, 1, options).dock.height, 400);
}

TEST(LayoutTest, ThePictureHasMostOfTheWindow) {
    const auto square = [](float width, float height) {
        const Layout l = lay_out(width, height, 1, ViewOptions());
        return std::min(l.canvas.width, l.canvas.height);
    };
    EXPECT_GE(square(1280, 720), 520);
    EXPECT_GE(square(1920, 1080), 820);
    EXPECT_GE(square(800, 600), 350);
    // The results and a line of timings stay in sight.
    for (const float width : {800.F, 1280.F}) {
        const Layout l = lay_out(width, 720, 1, ViewOptions());
        EXPECT_GT(l.results.height + l.strip.height, 50) << width;
        EXPECT_GE(l.dock.height, 60) << width;
    }
}

TEST(LayoutTest, SidePanelsOfANarrowWindowAreDrawersOverThePicture) {
    ViewOptions options;
    const Layout wide = lay_out(1000, 700, 1, options);
    EXPECT_FALSE(wide.narrow);
    EXPECT_GT(wide.controls.width, 0);
    const Layout closed = lay_out(999, 700, 1, options);
    EXPECT_TRUE(closed.narrow);
    EXPECT_EQ(closed.controls.width + closed.results.width, 0);
    EXPECT_EQ(closed.canvas.width, 999);
    options.drawer = Drawer::results;
    const Layout open = lay_out(999, 700, 1, options);
    EXPECT_EQ(open.controls.width, 0);
    EXPECT_EQ(open.results.x + open.results.width, 999);
    EXPECT_TRUE(overlap(open.results, open.canvas));
    EXPECT_FALSE(overlap(open.results, open.transport)) << "its button closes it";
    EXPECT_EQ(open.canvas.width, 999);
    EXPECT_TRUE(lay_out(1998, 1400, 2, options).narrow) << "in logical pixels";
    EXPECT_FALSE(lay_out(999, 700, 1, options, true).narrow) << "the microscope has the picture "
                                                                "above the controls";
}

TEST(LayoutTest, TheFoldedDockHasNoBorderToDrag) {
    ViewOptions options;
    const Layout folded = lay_out(1280, 720, 1, options);
    EXPECT_EQ(folded.lower_edge.height, 0);
    options.dock_folded = false;
    const Layout open = lay_out(1280, 720, 1, options);
    EXPECT_EQ(open.dock.height, 190);
    EXPECT_GT(folded.canvas.height, open.canvas.height);
    EXPECT_FALSE(lay_out(1280, 720, 1, ViewOptions(), true).folded);
}

TEST(LayoutTest, ScaleTwoDoublesEveryBox) {
    const Layout one = lay_out(1920, 1080, 1, ViewOptions());
    const Layout two = lay_out(3840, 2160, 2, ViewOptions());
    EXPECT_FLOAT_EQ(two.canvas.x, 2 * one.canvas.x);
    EXPECT_FLOAT_EQ(two.canvas.height, 2 * one.canvas.height);
    EXPECT_EQ(screenshot_scale({1920, 1080}), 1);
    EXPECT_EQ(screenshot_scale({3840, 2160}), 2);
}

TEST(LayoutTest, WidthsOfDifferentMomentsGiveNoScaleBelowOne) {
    EXPECT_EQ(framebuffer_pixels(2560, 1280, 2), 2);
    EXPECT_EQ(framebuffer_pixels(1280, 1280, 2), 1);  // X11: a layout unit is a pixel
    EXPECT_EQ(framebuffer_pixels(1280, 1, 1), 1);     // the window has grown in between
    EXPECT_EQ(framebuffer_pixels(1, 1280, 1), 1);
    EXPECT_EQ(framebuffer_pixels(2560, 1, 1.5F), 1.5F);
}

TEST(LayoutTest, EveryPanelHasASizeInTinyWindows) {
    ViewOptions options;
    options.drawer = Drawer::controls;
    const Layout l = lay_out(16, 16, 1, options);
    for (const Box& box : {l.top, l.controls, l.canvas, l.strip, l.dock, l.foot}) {
        EXPECT_GT(box.width, 0);
        EXPECT_GT(box.height, 0);
    }
    const experiments::Size picture = picture_area({16, 16});
    EXPECT_GE(picture.width, 1);
    EXPECT_GE(picture.height, 1);
}

TEST(LayoutTest, TheLessonsStandOnTheLeftOfEverythingElse) {
    ViewOptions options;
    options.lessons = true;
    for (const bool microscope : {false, true}) {
        const Layout l = lay_out(1280, 720, 1, options, microscope);
        EXPECT_EQ(l.lessons.width, 280);
        EXPECT_EQ(l.lessons.x, 0);
        EXPECT_FALSE(l.narrow) << "1280 pixels have room for the parameters beside the lessons";
        for (const Box& box : {l.controls, l.canvas, l.transport, l.dock})
            EXPECT_GE(box.x, l.lessons.width);
        EXPECT_EQ(l.dock.x + l.dock.width, 1280);
        EXPECT_EQ(l.top.width, 1280);
        EXPECT_EQ(l.foot.width, 1280);
    }
}

TEST(LayoutTest, SidePanelsFoldAway) {
    ViewOptions options;
    options.hide_controls = options.hide_results = true;
    const Layout l = lay_out(1280, 720, 1, options);
    EXPECT_EQ(l.controls.width + l.results.width, 0);
    EXPECT_EQ(l.canvas.width, 1280 - 2 * 8) << "a strip at each edge unfolds the panel";
    EXPECT_EQ(l.canvas.x, l.left_fold.width);
    EXPECT_EQ(l.right_fold.x, l.canvas.x + l.canvas.width);
    EXPECT_EQ(lay_out(1280, 720, 1, ViewOptions()).left_fold.width, 0);
    EXPECT_EQ(lay_out(1280, 720, 1, ViewOptions()).right_fold.width, 0);
    EXPECT_GT(l.strip.height, 0) << "the results are a line below the picture";
    EXPECT_GT(lay_out(1280, 720, 1, options, true).controls.width, 0);
}

TEST(LayoutTest, APresentationIsThePictureTheEditorAndACaption) {
    ViewOptions options;
    options.presentation = true;
    const Layout alone = lay_out(1600, 900, 1.5F, options);
    EXPECT_EQ(alone.canvas.width, 1600);
    EXPECT_EQ(alone.canvas.height + alone.caption.height, 900);
    EXPECT_EQ(alone.dock.width + alone.top.width + alone.foot.width, 0);
    options.editor = true;
    const Layout both = lay_out(1600, 900, 1.5F, options);
    EXPECT_EQ(both.canvas.width + both.editor.width, 1600);
    EXPECT_GT(lay_out(1600, 900, 1.5F, options, true).source.width, 0)
        << "the microscope has its usual places";
}

}  // namespace
}  // namespace warpscope::ui
