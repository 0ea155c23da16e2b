#pragma once

#include "gl/picture_zoom.h"

namespace warpscope::ui {

/// The part of a picture that is in view, which a person pans and zooms. At first the whole picture
/// is fitted into the area, also after changes of area or picture, until it is zoomed or panned.
class Canvas {
  public:
    /// Sets the canvas's area in framebuffer pixels and the size of the picture. Call it once a
    /// frame, before any other function.
    void place(const gl::Rect& area, int picture_width, int picture_height);

    const gl::View& view() const { return view_; }
    const gl::Rect& area() const { return area_; }
    bool fitted() const { return fitted_; }
    gl::Point to_texel(gl::Point screen) const;
    gl::Point to_screen(gl::Point texel) const;

    void fit();
    /// Shows each texel as one framebuffer pixel, with the picture centred.
    void one_to_one();
    void zoom(gl::Point anchor, double factor);
    void pan(double dx, double dy);

  private:
    void keep_in_sight();

    gl::Rect area_;
    gl::View view_;
    int width_ = 0, height_ = 0;
    bool fitted_ = true;
};

}  // namespace warpscope::ui
