#include "ui/widgets/canvas.h"

#include <gtest/gtest.h>

namespace warpscope::ui {
namespace {

constexpr gl::Rect area{320, 88, 600, 400};

TEST(CanvasTest, StartsFittedAndCentred) {
    Canvas canvas;
    canvas.place(area, 1024, 1024);
    EXPECT_DOUBLE_EQ(canvas.view().pixels_per_texel, 400.0 / 1024);
    const gl::Point corner = canvas.to_screen({0, 0});
    EXPECT_DOUBLE_EQ(corner.x, 320 + (600 - 400) / 2);
    EXPECT_DOUBLE_EQ(corner.y, 88);
}

TEST(CanvasTest, StaysFittedAfterChangesOfAreaAndPicture) {
    Canvas canvas;
    canvas.place(area, 1024, 1024);
    canvas.place({0, 0, 1000, 800}, 512, 512);
    EXPECT_TRUE(canvas.fitted());
    EXPECT_DOUBLE_EQ(canvas.view().pixels_per_texel, 800.0 / 512);
    EXPECT_DOUBLE_EQ(canvas.to_screen({512, 512}).y, 800);
}

TEST(CanvasTest, ZoomKeepsThePointUnderTheMouse) {
    Canvas canvas;
    canvas.place(area, 1024, 1024);
    const gl::Point mouse{500, 200};
    const gl::Point before = canvas.to_texel(mouse);
    canvas.zoom(mouse, 3);
    EXPECT_FALSE(canvas.fitted());
    EXPECT_NEAR(canvas.to_texel(mouse).x, before.x, 1e-9);
    EXPECT_NEAR(canvas.to_texel(mouse).y, before.y, 1e-9);
    EXPECT_DOUBLE_EQ(canvas.view().pixels_per_texel, 3 * 400.0 / 1024);
}

TEST(CanvasTest, OneToOnePutsTexelEdgesOnPixelEdges) {
    for (const int width : {599, 600})
        for (const int picture : {255, 256}) {
            Canvas canvas;
            canvas.place({0, 0, width, 400}, picture, 300);
            canvas.one_to_one();
            const double x = canvas.to_screen({0, 0}).x;
            EXPECT_DOUBLE_EQ(canvas.view().pixels_per_texel, 1);
            EXPECT_DOUBLE_EQ(x, double(int(x))) << width << " " << picture;
        }
}

TEST(CanvasTest, PictureKeepsItsPlaceWhenItsResolutionChanges) {
    Canvas canvas;
    canvas.place(area, 1024, 1024);
    canvas.zoom({500, 200}, 4);
    const gl::Point middle = canvas.to_screen({512, 512});
    canvas.place(area, 256, 256);
    EXPECT_NEAR(canvas.to_screen({128, 128}).x, middle.x, 1e-9);
    EXPECT_NEAR(canvas.to_screen({128, 128}).y, middle.y, 1e-9);
}

TEST(CanvasTest, PanningKeepsThePictureInSight) {
    Canvas canvas;
    canvas.place(area, 1024, 1024);
    canvas.pan(1e9, -1e9);
    const gl::Point centre = canvas.to_texel({620, 288});
    EXPECT_DOUBLE_EQ(centre.x, 0);
    EXPECT_DOUBLE_EQ(centre.y, 1024);
}

}  // namespace
}  // namespace warpscope::ui
