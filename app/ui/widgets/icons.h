#pragma once

#include <string>

#include "ui/widgets/ui.h"

namespace warpscope::ui {

enum class Icon {
    pause,
    play,
    step,
    restart,
    to_start,
    back,
    line,
    barrier,
    to_end,
    close,
    microscope,
    code
};

/// Draws into the current window, `r` from the centre to an edge.
void draw_icon(Icon icon, ImVec2 centre, float r, ImU32 colour);

/// A push button with an icon, and the place after it for the next one. `on`: drawn as switched
/// on. True when clicked.
bool icon_button(Ui& ui, const char* id, Icon icon, const char* help, const std::string& value = {},
                 bool enabled = true, bool on = false);
float icon_button_width(const Ui& ui);

}  // namespace warpscope::ui
