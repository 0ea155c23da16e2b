#include "ui/layout.h"

#include <algorithm>
#include <cmath>

namespace warpscope::ui {

Layout lay_out(float width, float height, float scale, const ViewOptions& options) {
    // A share of a tiny window may round to nothing, which no panel can be.
    const auto part = [&](float wish, float most) {
        return std::max(1.F, std::round(std::min(wish * scale, most)));
    };
    const float top = part(46, height * 0.2F), foot = part(30, height * 0.2F);
    const float edge = part(4, height), bar = part(42, height);
    const float body = std::max(1.F, height - top - foot);
    const float left = part(options.left, width * 0.4F);
    const float right = part(options.right, width * 0.35F);
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
    layout.results = {width - right, top, right, upper};
    layout.lower_edge = {x, top + upper, std::max(1.F, width - x), edge};
    layout.timings = {x, top + upper + edge, std::max(1.F, width - x), lower};
    layout.foot = {0, height - foot, width, foot};
    return layout;
}

float screenshot_scale(experiments::Size window) {
    const float room = std::min(float(window.width) / 1600, float(window.height) / 900);
    return std::max(1.F, std::floor(room));
}

experiments::Size picture_area(experiments::Size window) {
    const Layout layout =
        lay_out(float(window.width), float(window.height), screenshot_scale(window), ViewOptions());
    return {std::max(1, int(std::lround(layout.canvas.width))),
            std::max(1, int(std::lround(layout.canvas.height)))};
}

}  // namespace warpscope::ui
