#include "ui/widgets/canvas.h"

#include <algorithm>

namespace warpscope::ui {

void Canvas::place(const gl::Rect& area, int picture_width, int picture_height) {
    area_ = area;
    if (width_ > 0 && picture_width > 0 && picture_width != width_) {
        // When the resolution changes, the picture keeps its place on screen.
        const double factor = double(picture_width) / width_;
        view_.centre_x *= factor;
        view_.centre_y *= factor;
        view_.pixels_per_texel /= factor;
    }
    width_ = picture_width;
    height_ = picture_height;
    if (fitted_) fit();
}

gl::Point Canvas::to_texel(gl::Point screen) const {
    return gl::screen_to_texel(view_, area_, screen);
}

gl::Point Canvas::to_screen(gl::Point texel) const {
    return gl::texel_to_screen(view_, area_, texel);
}

void Canvas::fit() {
    view_ = gl::fit_view(width_, height_, area_);
    fitted_ = true;
}

void Canvas::one_to_one() {
    view_ = {width_ / 2.0, height_ / 2.0, 1};
    // If one side is odd and the other even, half a texel aligns texel edges with pixel edges.
    if ((area_.width - width_) % 2 != 0) view_.centre_x += 0.5;
    if ((area_.height - height_) % 2 != 0) view_.centre_y += 0.5;
    fitted_ = false;
}

void Canvas::zoom(gl::Point anchor, double factor) {
    view_ = gl::zoomed(view_, area_, anchor, factor);
    fitted_ = false;
    keep_in_sight();
}

void Canvas::pan(double dx, double dy) {
    view_ = gl::panned(view_, dx, dy);
    fitted_ = false;
    keep_in_sight();
}

void Canvas::keep_in_sight() {
    view_.centre_x = std::clamp(view_.centre_x, 0.0, double(width_));
    view_.centre_y = std::clamp(view_.centre_y, 0.0, double(height_));
}

}  // namespace warpscope::ui
