#include "ui/window/layout.h"

#include <algorithm>
#include <cmath>

namespace warpscope::ui {

namespace {

/// The width of the column of the lessons, in logical pixels. Beside it, a window of 1280 pixels is
/// not narrow.
constexpr float lessons_width = 280;
/// In a narrower window, less the lessons, the editor takes the place of the picture, and the
/// microscope that of the lessons.
constexpr float crowded_width = 600;
/// Below this height of the picture, the editor takes the height of the dock, too.
constexpr float low_height = 300;

/// With the microscope open, the picture moves above the controls. The source is in the place of
/// the picture, the warps and the tile in the place of the results.
void open_microscope(Layout& layout, float bar, float scale) {
    const Box left = layout.controls, centre = layout.canvas, right = layout.results;
    // A narrow window has room for the source and the warps alone.
    layout.transport = layout.canvas = {};
    if (left.width > 0) {
        layout.transport = {left.x, left.y, left.width, std::min(bar, left.height / 4)};
        const float picture = std::min(left.width, std::round(left.height * 0.45F));
        const float top = left.y + layout.transport.height;
        layout.canvas = {left.x, top, left.width, picture};
        const float below = top + picture;
        layout.controls = {left.x, below, left.width, std::max(1.F, left.y + left.height - below)};
    }

    const float upper = centre.y + centre.height - right.y;
    layout.microscope = {centre.x, right.y, centre.width, std::min(bar, upper)};
    layout.source = centre;
    // Eight warps have room. The tile below is as high as it is wide, where there is room.
    const float eight = std::min(212 * scale, right.height * 0.6F);
    const float tile = std::round(std::min(right.width + 106 * scale, right.height - eight));
    layout.warps = {right.x, right.y, right.width, std::max(1.F, right.height - tile)};
    layout.tile = {right.x, right.y + layout.warps.height, right.width, tile};
    layout.results = {};
}

/// The source stands between the bar above the picture and the dock.
void let_editor_replace_picture(Layout& layout) {
    const Box source = layout.editor;
    layout.transport = {source.x, source.y, source.width, layout.transport.height};
    layout.editor.y += layout.transport.height;
    layout.editor.height = std::max(1.F, source.height - layout.transport.height);
    layout.canvas = layout.strip = layout.right_edge = {};
}

/// Places the side panel of a narrow window that is open, over the picture and the dock.
void open_drawer(Layout& layout, float width, float scale, const ViewOptions& options) {
    const Box& below = layout.transport;
    const float top = below.y + below.height, height = layout.foot.y - top;
    const auto wide = [&](float wish) { return std::min(wish * scale, width * 0.85F); };
    if (options.drawer == Drawer::controls)
        layout.controls = {0, top, wide(options.left), height};
    else if (options.drawer == Drawer::results)
        layout.results = {width - wide(options.right), top, wide(options.right), height};
}

/// The picture, or the picture and the editor, above a caption.
Layout lay_out_presentation(float width, float height, float scale, const ViewOptions& options) {
    Layout layout;
    const float caption = std::round(std::min(96 * scale, height * 0.32F));
    const float above = std::max(1.F, height - caption);
    const float editor = options.editor ? std::round(width * 0.48F) : 0;
    layout.canvas = {0, 0, std::max(1.F, width - editor), above};
    if (editor > 0) layout.editor = {width - editor, 0, editor, above};
    layout.caption = {0, above, width, caption};
    return layout;
}

/// Lays out everything but the lessons.
Layout lay_out_panels(float width, float height, float scale, const ViewOptions& options,
                      bool microscope) {
    // In a tiny window a part may round to 0, but a panel needs a size.
    const auto part = [&](float wish, float most) {
        return std::max(1.F, std::round(std::min(wish * scale, most)));
    };
    Layout layout;
    layout.narrow = !microscope && width < narrow_width * scale;
    layout.folded = !microscope && options.dock_folded;
    // The microscope's source needs half of the window's width, and the editor nearly as much.
    const bool editor = options.editor && !microscope;
    const bool slim = microscope && width < narrow_width * scale;
    const bool alone = editor && width < crowded_width * scale;
    // The microscope's picture lies above the controls, which are therefore on show with it.
    const bool controls = !layout.narrow && !slim && (microscope || !options.hide_controls);
    const bool results = !layout.narrow && !editor && (microscope || !options.hide_results);
    const float top = part(44, height * 0.2F), foot = part(28, height * 0.2F);
    const float edge = part(8, height), bar = part(40, height);
    const float body = std::max(1.F, height - top - foot);
    const float left =
        controls ? part(options.left, width * (microscope || editor ? 0.28F : 0.4F)) : 0;
    const float right = alone    ? width
                        : editor ? part(options.editor_width, width * 0.46F)
                        : results
                            ? part(slim ? width : options.right, width * (slim         ? 0.4F
                                                                          : microscope ? 0.25F
                                                                                       : 0.35F))
                            : 0;
    // A panel that a person has folded leaves a strip, which unfolds it.
    const bool folded_left = !layout.narrow && !slim && !controls;
    const bool folded_right = !layout.narrow && !editor && !results;
    const float left_edge = left > 0 || folded_left ? edge : 0;
    const float right_edge = (right > 0 && !alone) || folded_right ? edge : 0;
    const float lower_edge = layout.folded ? 0 : edge;
    // In a low window the dock leaves most of the height to the picture and its bars.
    const float most =
        std::max(body * (alone ? 0.3F : 0.4F), std::min(body * 0.5F, body - 400 * scale));
    // Folded, it is its tabs and a line of timings; where the source is short, its tabs.
    const float open = options.bottom > 0 ? options.bottom : options.dock_needs;
    const float lower = part(!layout.folded ? open : alone ? 34 : 70, most);
    const float upper = std::max(1.F, body - lower - lower_edge);
    const float centre = std::max(1.F, width - left - right - left_edge - right_edge);
    const float x = left + left_edge;
    const float strip = microscope || results ? 0 : part(52, upper * 0.25F);

    layout.top = {0, 0, width, top};
    layout.transport = {x, top, centre, std::min(bar, upper)};
    layout.canvas = {x, top + bar, centre, std::max(1.F, upper - bar - strip)};
    if (strip > 0) layout.strip = {x, top + upper - strip, centre, strip};
    if (controls) layout.controls = {0, top, left, body};
    if (controls) layout.left_edge = {left, top, edge, body};
    if (folded_left) layout.left_fold = {0, top, edge, body};
    if (folded_right) layout.right_fold = {width - edge, top, edge, upper};
    // In a small window the column on the right takes the height of the dock, too: the warps and
    // the tile of the microscope, or the source of the editor.
    const bool whole = slim || (editor && !alone && upper < low_height * scale);
    const float column = whole ? body : upper, beside = whole ? right + right_edge : 0;
    const float dock = std::max(1.F, width - x - beside);
    if (right > 0) (editor ? layout.editor : layout.results) = {width - right, top, right, column};
    if (right > 0) layout.right_edge = {width - right - edge, top, edge, column};
    if (lower_edge > 0) layout.lower_edge = {x, top + upper, dock, lower_edge};
    layout.dock = {x, top + upper + lower_edge, dock, lower};
    layout.foot = {0, height - foot, width, foot};
    if (alone) let_editor_replace_picture(layout);
    if (microscope) open_microscope(layout, bar, scale);
    if (layout.narrow) open_drawer(layout, width, scale, options);
    return layout;
}

/// The column of the lessons on the left of all panels.
void put_lessons_beside(Layout& layout, float lessons, float width) {
    for (Box* box : {&layout.controls, &layout.transport, &layout.canvas, &layout.results,
                     &layout.strip, &layout.editor, &layout.dock, &layout.microscope,
                     &layout.source, &layout.warps, &layout.tile, &layout.left_edge,
                     &layout.right_edge, &layout.lower_edge, &layout.left_fold, &layout.right_fold})
        box->x += lessons;
    layout.top.width = layout.foot.width = width;
    const float top = layout.top.height;
    layout.lessons = {0, top, lessons, std::max(1.F, layout.foot.y - top)};
}

/// One panel, with the bar above it, in the place of all others.
void maximize(Layout& layout, const std::string& name) {
    const auto panels = panels_to_maximize(layout);
    const auto chosen = panels.find(name);
    if (chosen == panels.end() || chosen->second.back()->width <= 0) return;
    Layout alone;
    alone.narrow = layout.narrow;
    alone.top = layout.top;
    alone.foot = layout.foot;
    const float top = layout.top.height, bar = layout.transport.height;
    Box rest{0, top, layout.top.width, std::max(1.F, layout.foot.y - top)};
    const auto places = panels_to_maximize(alone).at(name);
    if (places.size() > 1) {
        *places.front() = {0, top, rest.width, std::min(bar, rest.height)};
        rest.y += places.front()->height;
        rest.height = std::max(1.F, rest.height - places.front()->height);
    }
    *places.back() = rest;
    layout = alone;
}

}  // namespace

std::map<std::string, std::vector<Box*>> panels_to_maximize(Layout& layout) {
    return {{"canvas", {&layout.transport, &layout.canvas}},
            {"controls", {&layout.controls}},
            {"results", {&layout.results}},
            {"editor", {&layout.editor}},
            {"dock", {&layout.dock}},
            {"source.panel", {&layout.microscope, &layout.source}},
            {"warps", {&layout.warps}},
            {"tile.panel", {&layout.tile}},
            {"lessons", {&layout.lessons}}};
}

Layout lay_out(float width, float height, float scale, const ViewOptions& options,
               bool microscope) {
    if (options.presentation && !microscope)
        return lay_out_presentation(width, height, scale, options);
    float lessons =
        options.lessons ? std::round(std::min(lessons_width * scale, width * 0.33F)) : 0;
    if (microscope && width - lessons < crowded_width * scale) lessons = 0;
    Layout layout = lay_out_panels(width - lessons, height, scale, options, microscope);
    if (lessons > 0) put_lessons_beside(layout, lessons, width);
    if (!options.maximized.empty()) maximize(layout, options.maximized);
    return layout;
}

// In steps, since each needs fonts of its own. 720 pixels are as high as 480 usually are.
float presentation_scale(float height, float wish) {
    const float usual = std::max(1.5F, std::floor(height / 120) / 4);
    return usual * std::min(wish, 1.5F);  // larger words of the caption have no room
}

float framebuffer_pixels(float framebuffer_width, float window_width, float content_scale) {
    return std::clamp(framebuffer_width / window_width, 1.F, std::max(1.F, content_scale));
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
