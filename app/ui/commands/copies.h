#pragma once

#include <imgui.h>

#include <cstdint>
#include <span>
#include <string>

#include "experiments/export/table.h"
#include "ui/stage/stage.h"
#include "ui/widgets/widget_map.h"

namespace warpscope::ui {

/// The smallest widget with a value that the mouse is on; null: there is none.
const Widget* value_under(const WidgetMap& widgets, ImVec2 mouse);

/// The table of a tab at the foot, where it has one; else the results. `figure` sorts lines.
experiments::Table table_on_show(const Stage& stage, const std::string& tab,
                                 experiments::LineFigure figure);

/// The command line that makes the picture on show again.
std::string command_of(const Stage& stage);

/// A page of HTML about the frame on show. `png`: its picture; empty: there is none.
std::string page_of(const Stage& stage, std::span<const std::uint8_t> png);

}  // namespace warpscope::ui
