#pragma once

#include <array>
#include <string_view>

namespace warpscope::gl {

/// The source of shaders/NAME, built into the app; empty for an unknown name.
std::string_view shader_source(std::string_view name);

/// A linked GLSL program.
class Shader {
  public:
    /// `name` is for error messages. Throws Error with the log of the compiler or linker.
    Shader(std::string_view name, std::string_view vertex, std::string_view fragment);
    ~Shader();
    Shader(const Shader&) = delete;
    Shader& operator=(const Shader&) = delete;

    unsigned id() const { return id_; }
    /// Location for glUniform…. Throws Error if the program has no such active uniform.
    int uniform(const char* name) const;

  private:
    unsigned id_ = 0;
};

/// A point in framebuffer pixels or in texels of a picture; origin at the top left, y down.
struct Point {
    double x = 0;
    double y = 0;
};

/// A part of a framebuffer in pixels; origin at the top left, y down.
struct Rect {
    int x = 0;
    int y = 0;
    int width = 0;
    int height = 0;
    bool operator==(const Rect&) const = default;
};

/// The part of a picture that a Rect shows, and its scale.
struct View {
    double centre_x = 0;          ///< in texels, at the centre of the rectangle;
    double centre_y = 0;          ///< texel (i, j) covers [i, i+1) x [j, j+1)
    double pixels_per_texel = 1;  ///< framebuffer pixels on one side of a texel
    bool operator==(const View&) const = default;
};

/// Shows the whole picture, centred, at the largest scale that fits.
View fit_view(int picture_width, int picture_height, const Rect& rect);
Point screen_to_texel(const View& view, const Rect& rect, Point screen);
Point texel_to_screen(const View& view, const Rect& rect, Point texel);
/// Zooms by `factor`; the texel under the screen point `anchor` does not move. pixels_per_texel is
/// limited to [1/64, 256].
View zoomed(const View& view, const Rect& rect, Point anchor, double factor);
/// Moves the picture by (dx, dy) screen pixels.
View panned(const View& view, double dx, double dy);

/// A texture whose row 0 is the top row of a picture, as in PixelBuffer.
struct Picture {
    unsigned texture = 0;
    int width = 0;
    int height = 0;
};

struct PictureStyle {
    bool linear = false;  ///< interpolate between texels; false: show the nearest texel
    int grid_texels = 0;  ///< texels between grid lines, the side of a tile; 0: no grid
    int grid_pixels = 1;  ///< width of a grid line in framebuffer pixels
    std::array<float, 4> grid_colour{1.F, 1.F, 1.F, 0.45F};  ///< r, g, b, opacity
    std::array<float, 3> background{0.09F, 0.09F, 0.10F};    ///< around the picture
    bool operator==(const PictureStyle&) const = default;
};

/// The grid's opacity, 0 to 1, for tiles with a side of `tile_pixels` screen pixels. Small tiles
/// have no grid, which would hide the picture; the grid appears gradually with the zoom.
double grid_visibility(double tile_pixels);

/// Draws a View of a Picture.
class ZoomedPicture {
  public:
    ZoomedPicture();
    ~ZoomedPicture();
    ZoomedPicture(const ZoomedPicture&) = delete;
    ZoomedPicture& operator=(const ZoomedPicture&) = delete;

    /// Fills `rect` of the bound framebuffer with an opaque view of the picture. The framebuffer is
    /// target_height pixels high. Changes the viewport, program, vertex array and texture unit 0 of
    /// the GL state.
    void draw(const Picture& picture, const View& view, const Rect& rect, int target_height,
              const PictureStyle& style = {});

  private:
    Shader shader_;
    unsigned vertices_ = 0;
    unsigned sampler_ = 0;
};

}  // namespace warpscope::gl
