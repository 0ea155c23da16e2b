#include "gl/picture_zoom.h"

#include <glad/gl.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "gl/context.h"
#include "gl/pixel_buffer.h"
#include "gl/texture.h"
#include "host_device.h"
#include "pixels.h"

namespace warpscope::gl {
namespace {

using Colour = std::array<int, 4>;

constexpr Colour background{26, 51, 77, 255};
constexpr Colour grid_line{255, 0, 255, 255};

PictureStyle plain_style() {
    PictureStyle style;
    style.background = {26 / 255.F, 51 / 255.F, 77 / 255.F};
    style.grid_colour = {1, 0, 1, 1};
    return style;
}

/// A framebuffer of `width` x `height` pixels that a ZoomedPicture has drawn into.
class ZoomedPictureTest : public testing::Test {
  protected:
    static constexpr int width = 200;
    static constexpr int height = 120;

    PixelBuffer& show(int columns, int rows, const std::vector<std::uint8_t>& rgba) {
        pixels_.emplace(device_, columns, rows);
        pixels_->write(
            [&](std::uint64_t address) { device_.upload(address, rgba.data(), rgba.size()); });
        return *pixels_;
    }

    void draw(const View& view, const Rect& rect, const PictureStyle& style) {
        framebuffer_.bind();
        glClearColor(0, 1, 0, 1);
        glClear(GL_COLOR_BUFFER_BIT);
        zoomed_picture_.draw({pixels_->texture()->id(), pixels_->width(), pixels_->height()}, view,
                             rect, height, style);
        drawn_ = framebuffer_.read_pixels();
        ASSERT_EQ(glGetError(), GLenum(GL_NO_ERROR));
    }

    Colour at(int x, int y) const { return colour_in(drawn_, y * width + x); }
    static Colour colour_in(const std::vector<std::uint8_t>& rgba, int pixel) {
        const auto* p = &rgba[std::size_t(pixel) * 4];
        return {p[0], p[1], p[2], p[3]};
    }
    int count(const Colour& colour) const {
        int found = 0;
        for (int i = 0; i < width * height; ++i) found += colour_in(drawn_, i) == colour;
        return found;
    }

    OffscreenContext context_;
    HostDevice device_{compute::DeviceKind::emulator};
    std::optional<PixelBuffer> pixels_;
    Framebuffer framebuffer_{width, height};
    ZoomedPicture zoomed_picture_;
    std::vector<std::uint8_t> drawn_;
};

// 20x12 texels of 8x8 pixels fill 160x96; the rectangle starts at (24, 16).
TEST_F(ZoomedPictureTest, EveryPixelHasTheColourOfItsTexel) {
    const auto rgba = numbered_pixels(20, 12);
    show(20, 12, rgba);
    draw({10, 6, 8}, {24, 16, 160, 96}, plain_style());
    int wrong = 0, wrong_if_shifted = 0;
    for (int y = 0; y < height; ++y) {
        for (int x = 0; x < width; ++x) {
            const bool inside = x >= 24 && x < 184 && y >= 16 && y < 112;
            const int texel = inside ? (y - 16) / 8 * 20 + (x - 24) / 8 : 0;
            const Colour expected = inside ? colour_in(rgba, texel) : Colour{0, 255, 0, 255};
            wrong += at(x, y) != expected;
            wrong_if_shifted += inside && at(x, y) != colour_in(rgba, (texel + 1) % 240);
        }
    }
    EXPECT_EQ(wrong, 0);
    EXPECT_EQ(wrong_if_shifted, 160 * 96);
}

TEST_F(ZoomedPictureTest, ShowsTheBackgroundAroundAPannedPicture) {
    const auto rgba = numbered_pixels(4, 4);
    show(4, 4, rgba);
    draw({-1, 4, 10}, {0, 0, 100, 60}, plain_style());  // texel (-1, 4) at pixel (50, 30)
    EXPECT_EQ(at(60, 29), colour_in(rgba, 3 * 4 + 0));
    EXPECT_EQ(at(99, 29), colour_in(rgba, 3 * 4 + 3));
    EXPECT_EQ(at(60, 0), colour_in(rgba, 1 * 4 + 0));  // texel y = 4 - 30/10
    EXPECT_EQ(at(59, 29), background);
    EXPECT_EQ(at(60, 30), background);
    EXPECT_EQ(at(100, 29), (Colour{0, 255, 0, 255}));
    EXPECT_EQ(count(background), 100 * 60 - 40 * 30);
}

// Tiles of 4 texels at 8 pixels per texel: 160x96 pixels hold 5 columns and 3 rows of tiles. Each
// tile has a line of pixels at its left and at its top: 5*96 + 3*160 - 5*3 pixels.
TEST_F(ZoomedPictureTest, DrawsOneGridLineBeforeEveryTile) {
    show(20, 12, numbered_pixels(20, 12));
    PictureStyle style = plain_style();
    style.grid_texels = 4;
    draw({10, 6, 8}, {0, 0, 160, 96}, style);
    EXPECT_EQ(count(grid_line), 5 * 96 + 3 * 160 - 5 * 3);
    EXPECT_EQ(at(32, 5), grid_line);
    EXPECT_NE(at(31, 5), grid_line);
    EXPECT_NE(at(33, 5), grid_line);

    style.grid_pixels = 2;
    draw({10, 6, 8}, {0, 0, 160, 96}, style);
    EXPECT_EQ(count(grid_line), 2 * 5 * 96 + 2 * 3 * 160 - 4 * 5 * 3);
    style.grid_texels = 0;
    draw({10, 6, 8}, {0, 0, 160, 96}, style);
    EXPECT_EQ(count(grid_line), 0);
}

TEST_F(ZoomedPictureTest, DrawsNoGridForSmallTiles) {
    EXPECT_EQ(grid_visibility(8), 0);
    EXPECT_EQ(grid_visibility(20), 0.5);
    EXPECT_EQ(grid_visibility(32), 1);
    EXPECT_EQ(grid_visibility(500), 1);
    const auto rgba = numbered_pixels(20, 12);
    show(20, 12, rgba);
    PictureStyle style = plain_style();
    style.grid_texels = 4;
    draw({10, 6, 2}, {0, 0, 40, 24}, style);
    for (int y = 0; y < 24; ++y) {
        for (int x = 0; x < 40; ++x) {
            ASSERT_EQ(at(x, y), colour_in(rgba, y / 2 * 20 + x / 2)) << x << ", " << y;
        }
    }
}

TEST_F(ZoomedPictureTest, APixelOverSeveralTexelsShowsTheirMean) {
    std::vector<std::uint8_t> checker;
    for (int i = 0; i < 64 * 64; ++i) {
        const std::uint8_t value = (i % 64 + i / 64) % 2 ? 240 : 0;
        checker.insert(checker.end(), {value, value, value, 255});
    }
    show(64, 64, checker);
    draw({32, 32, 0.5}, {0, 0, 32, 32}, plain_style());
    EXPECT_EQ(count({120, 120, 120, 255}), 32 * 32);
    draw({32, 32, 0.25}, {0, 0, 16, 16}, plain_style());
    EXPECT_EQ(count({120, 120, 120, 255}), 16 * 16);
    draw({32, 32, 1}, {0, 0, 64, 64}, plain_style());
    EXPECT_EQ(count({240, 240, 240, 255}), 64 * 64 / 2);
}

TEST_F(ZoomedPictureTest, LinearFilterInterpolatesBetweenTexelCentres) {
    show(2, 1, {0, 0, 0, 255, 200, 200, 200, 255});
    PictureStyle style = plain_style();
    style.linear = true;
    draw({1, 0.5, 100}, {0, 0, 200, 100}, style);
    EXPECT_EQ(at(0, 50), (Colour{0, 0, 0, 255}));
    EXPECT_NEAR(at(100, 50)[0], 101, 2);  // half a pixel right of the middle
    EXPECT_NEAR(at(75, 50)[0], 51, 2);
    EXPECT_EQ(at(199, 50), (Colour{200, 200, 200, 255}));
    style.linear = false;
    draw({1, 0.5, 100}, {0, 0, 200, 100}, style);
    EXPECT_EQ(at(75, 50)[0], 0);
    EXPECT_EQ(at(100, 50)[0], 200);
}

TEST_F(ZoomedPictureTest, ScreenToTexelFindsTheVisibleTexel) {
    const auto rgba = numbered_pixels(20, 12);
    show(20, 12, rgba);
    const Rect rect{30, 10, 150, 90};
    const View view{9.3, 7.1, 6.5};
    draw(view, rect, plain_style());
    for (int y = rect.y; y < rect.y + rect.height; y += 7) {
        for (int x = rect.x; x < rect.x + rect.width; x += 7) {
            const Point texel = screen_to_texel(view, rect, {x + 0.5, y + 0.5});
            const bool inside = texel.x >= 0 && texel.x < 20 && texel.y >= 0 && texel.y < 12;
            EXPECT_EQ(at(x, y),
                      inside ? colour_in(rgba, int(texel.y) * 20 + int(texel.x)) : background);
        }
    }
}

TEST(ViewTest, FitsTheWholePicture) {
    const View wide = fit_view(1000, 100, {0, 0, 500, 400});
    EXPECT_EQ(wide.pixels_per_texel, 0.5);
    EXPECT_EQ(wide.centre_x, 500);
    EXPECT_EQ(wide.centre_y, 50);
    EXPECT_EQ(fit_view(10, 40, {5, 5, 200, 80}).pixels_per_texel, 2);
    EXPECT_EQ(fit_view(10, 40, {5, 5, 0, 0}).pixels_per_texel, 1);
    EXPECT_EQ(fit_view(0, 0, {0, 0, 10, 10}).pixels_per_texel, 1);
}

TEST(ViewTest, ScreenAndTexelAreInverse) {
    const View view{100, 50, 4};
    const Rect rect{20, 10, 400, 300};
    const Point texel = screen_to_texel(view, rect, {228, 152});  // 8 right of, 8 above the centre
    EXPECT_EQ(texel.x, 102);
    EXPECT_EQ(texel.y, 48);
    const Point screen = texel_to_screen(view, rect, texel);
    EXPECT_EQ(screen.x, 228);
    EXPECT_EQ(screen.y, 152);
}

TEST(ViewTest, ZoomKeepsTheTexelUnderTheMouse) {
    const Rect rect{20, 10, 400, 300};
    const Point mouse{333, 44};
    View view{100, 50, 4};
    const Point before = screen_to_texel(view, rect, mouse);
    for (const double factor : {1.1, 0.3, 1000.0, 1e-9, 7.0}) {
        view = zoomed(view, rect, mouse, factor);
        EXPECT_NEAR(screen_to_texel(view, rect, mouse).x, before.x, 1e-9);
        EXPECT_NEAR(screen_to_texel(view, rect, mouse).y, before.y, 1e-9);
        EXPECT_GE(view.pixels_per_texel, 1.0 / 64);
        EXPECT_LE(view.pixels_per_texel, 256);
    }
    EXPECT_EQ(zoomed({0, 0, 4}, rect, mouse, 2).pixels_per_texel, 8);
}

TEST(ViewTest, PanMovesThePictureByScreenPixels) {
    const Rect rect{0, 0, 100, 100};
    const View view{10, 10, 5};
    const Point texel = screen_to_texel(view, rect, {30, 40});
    const Point moved = texel_to_screen(panned(view, 7, -3), rect, texel);
    EXPECT_DOUBLE_EQ(moved.x, 37);
    EXPECT_DOUBLE_EQ(moved.y, 37);
}

}  // namespace
}  // namespace warpscope::gl
