#pragma once

#include <array>

#include "gl/shader.h"

namespace warpscope::gl {

/// Framebuffer pixels, or texels of a picture; origin at the top left, y down.
struct Point {
    double x = 0;
    double y = 0;
};

/// A part of a framebuffer, in its pixels, origin at the top left, y down.
struct Rect {
    int x = 0;
    int y = 0;
    int width = 0;
    int height = 0;
};

/// Which part of a picture shows in a Rect, and how large.
struct View {
    double centre_x = 0;          ///< the texel coordinate at the rectangle's centre;
    double centre_y = 0;          ///< texel (i, j) covers [i, i+1) x [j, j+1)
    double pixels_per_texel = 1;  ///< framebuffer pixels
};

/// The whole picture, centred, as large as fits.
View fit_view(int picture_width, int picture_height, const Rect& rect);
Point screen_to_texel(const View& view, const Rect& rect, Point screen);
Point texel_to_screen(const View& view, const Rect& rect, Point texel);
/// Zooms by `factor` with the texel under `anchor` (a screen point) staying where it is.
/// pixels_per_texel stays within [1/64, 256].
View zoomed(const View& view, const Rect& rect, Point anchor, double factor);
/// Moves the picture with the mouse: (dx, dy) screen pixels.
View panned(const View& view, double dx, double dy);

/// A texture whose row 0 is the top, as PixelBuffer's.
struct Picture {
    unsigned texture = 0;
    int width = 0;
    int height = 0;
};

struct PictureStyle {
    bool linear = false;  ///< interpolate between texels; else every pixel is exactly one texel
    int grid_texels = 0;  ///< a line before every so many texels (a tile's side); 0: none
    int grid_pixels = 1;  ///< the lines' width in framebuffer pixels
    std::array<float, 4> grid_colour{1.F, 1.F, 1.F, 0.45F};  ///< r, g, b, opacity
    std::array<float, 3> background{0.09F, 0.09F, 0.10F};    ///< around the picture
};

/// The grid's opacity, 0 to 1, for tiles of so many screen pixels: lines that would hide the
/// picture are not drawn, and they fade in with the zoom.
double grid_visibility(double tile_pixels);

/// Draws pictures as the canvas shows them.
class PictureView {
  public:
    PictureView();
    ~PictureView();
    PictureView(const PictureView&) = delete;
    PictureView& operator=(const PictureView&) = delete;

    /// Fills `rect` of the bound framebuffer, which is target_height pixels high, with the view
    /// of the picture, opaque. Changes the viewport, program, vertex array and texture unit 0;
    /// leaves no other state changed.
    void draw(const Picture& picture, const View& view, const Rect& rect, int target_height,
              const PictureStyle& style = {});

  private:
    Shader shader_;
    unsigned vertices_ = 0;
    unsigned sampler_ = 0;
};

}  // namespace warpscope::gl
