#include "ui/window/layout.h"

#include <algorithm>
#include <cmath>

namespace warpscope::ui {

namespace {

/// With the microscope open, the picture moves above the controls. The source is in the place of
/// the picture, the warps and the tile in the place of the results.
void open_microscope(Layout& layout, float bar, float scale) {
    const Box left = layout.controls, centre = layout.canvas, right = layout.results;
    layout.transport = {left.x, left.y, left.width, std::min(bar, left.height / 4)};
    const float picture = std::min(left.width, std::round(left.height * 0.45F));
    const float top = left.y + layout.transport.height;
    layout.canvas = {left.x, top, left.width, picture};
    const float below = top + picture;
    layout.controls = {left.x, below, left.width, std::max(1.F, left.y + left.height - below)};

    const float upper = centre.y + centre.height - right.y;
    layout.microscope = {centre.x, right.y, centre.width, std::min(bar, upper)};
    layout.source = centre;
    // Eight warps have room. The tile below is as high as it is wide, where there is room.
    const float eight = std::min(212 * scale, right.height * 0.6F);
    const float tile = std::round(std::min(right.width + 62 * scale, right.height - eight));
    layout.warps = {right.x, right.y, right.width, std::max(1.F, right.height - tile)};
    layout.tile = {right.x, right.y + layout.warps.height, right.width, tile};
    layout.results = {};
}

}  // namespace

Layout lay_out(float width, float height, float scale, const ViewOptions& options,
               bool microscope) {
    // In a tiny window a share may round to 0, but a panel needs a size.
    const auto part = [&](float wish, float most) {
        return std::max(1.F, std::round(std::min(wish * scale, most)));
    };
    const float top = part(46, height * 0.2F), foot = part(30, height * 0.2F);
    const float edge = part(8, height), bar = part(42, height);
    const float body = std::max(1.F, height - top - foot);
    // The microscope's source needs half of the window's width, and the editor nearly as much.
    const bool editor = options.editor && !microscope;
    const float left = part(options.left, width * (microscope || editor ? 0.25F : 0.4F));
    const float right = editor ? part(options.editor_width, width * 0.46F)
                               : part(options.right, width * (microscope ? 0.25F : 0.35F));
    const float lower = part(options.bottom, body * 0.5F);
    const float upper = std::max(1.F, body - lower - edge);
    const float centre = std::max(1.F, width - left - right - 2 * edge);
    const float x = left + edge;

    Layout layout;
    layout.top = {0, 0, width, top};
    layout.controls = {0, top, left, body};
    layout.left_edge = {left, top, edge, body};
    layout.transport = {x, top, centre, std::min(bar, upper)};
    layout.canvas = {x, top + bar, centre, std::max(1.F, upper - bar)};
    layout.right_edge = {width - right - edge, top, edge, upper};
    (editor ? layout.editor : layout.results) = {width - right, top, right, upper};
    layout.lower_edge = {x, top + upper, std::max(1.F, width - x), edge};
    layout.dock = {x, top + upper + edge, std::max(1.F, width - x), lower};
    layout.foot = {0, height - foot, width, foot};
    if (microscope) open_microscope(layout, bar, scale);
    return layout;
}

float screenshot_scale(experiments::Size window) {
    const float room = std::min(float(window.width) / 1600, float(window.height) / 900);
    return std::max(1.F, std::floor(room));
}

experiments::Size picture_area(experiments::Size window, bool microscope) {
    const Layout layout = lay_out(float(window.width), float(window.height),
                                  screenshot_scale(window), ViewOptions(), microscope);
    return {std::max(1, int(std::lround(layout.canvas.width))),
            std::max(1, int(std::lround(layout.canvas.height)))};
}

}  // namespace warpscope::ui
