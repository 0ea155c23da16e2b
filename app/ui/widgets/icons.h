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
    to_break,
    back_to_break,
    close,
    microscope,
    code,
    sliders,
    numbers,
    fold,
    unfold
};

/// Draws an icon into the current window; `r` is the distance from its centre to an edge.
void draw_icon(Icon icon, ImVec2 centre, float r, ImU32 colour);

/// A push button with an icon and a tooltip. The next item follows on the same line. `value` goes
/// to the widget map. `on` draws it as switched on. True when clicked.
bool icon_button(Ui& ui, const char* id, Icon icon, const std::string& help,
                 const std::string& value = {}, bool enabled = true, bool on = false);
float icon_button_width(const Ui& ui);

}  // namespace warpscope::ui
