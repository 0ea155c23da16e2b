#pragma once

#include <string>

#include "ui/widgets/ui.h"

namespace warpscope::ui {

/// A frame around a widget of this frame, with a number at its corner, over the whole window.
/// Adds the widget "coach_mark", so `widget` must not be one of ui.widgets.
void draw_coach_mark(Ui& ui, const Widget& widget, const std::string& number);

}  // namespace warpscope::ui
