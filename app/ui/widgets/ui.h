#pragma once

#include <imgui.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "ui/language/language.h"
#include "ui/widgets/box.h"
#include "ui/widgets/key_table.h"
#include "ui/widgets/theme.h"
#include "ui/widgets/widget_map.h"

namespace warpscope::ui {

/// A value that a person is typing or dragging and that is not applied yet.
struct PendingValue {
    std::string id;  ///< the id of the widget; empty: no value is pending
    std::string text;
};

/// The item under the mouse, known by its corner, and the time (ImGui's seconds) since when the
/// mouse has rested on it. Tooltips appear after a delay, and not on an item that was pressed: they
/// would cover the panel or the list that the press has opened.
struct MouseRest {
    ImVec2 item;
    double since = 0;
    int frame = 0;  ///< the newest frame in which it rested there
    bool pressed = false;
};

/// What every widget and panel needs to draw itself. There is one for each window or screenshot,
/// made while its ImGui context is current.
struct Ui {
    Ui(float layout_units, float framebuffer_pixels)
        : scale(layout_units),
          raster(framebuffer_pixels),
          language(ui::language()),
          fonts(apply_theme(layout_units, framebuffer_pixels)) {}

    /// Converts logical pixels to layout units.
    float px(float logical) const { return logical * scale; }
    /// Runs `request` between this frame and the next. For changes, such as another experiment,
    /// that must not happen before the remaining panels of this frame are drawn.
    void later(std::function<void()> request) { requests.push_back(std::move(request)); }

    /// Carries the command out between this frame and the next, as its key does.
    void ask(Command command) {
        later([this, command] { carry_out(command); });
    }

    float scale;        ///< layout units in a logical pixel
    float raster;       ///< framebuffer pixels in a layout unit
    Language language;  ///< that the fonts are for
    Fonts fonts;
    WidgetMap widgets;
    PendingValue edit;
    MouseRest rest;
    std::vector<std::function<void()>> requests;
    std::function<void(Command)> carry_out = [](Command) {};  ///< set by the window's view
};

}  // namespace warpscope::ui
