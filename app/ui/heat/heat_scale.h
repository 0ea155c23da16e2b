#pragma once

#include <cstdint>
#include <string>

#include "ui/widgets/ui.h"

namespace warpscope::ui {

inline constexpr float heat_scale_room = 250;  ///< logical pixels

/// Draws the colours from 0 to the highest count, on the line at `top` and left of `right`.
void heat_scale(Ui& ui, const std::string& id, float right, float top, std::uint64_t most);

}  // namespace warpscope::ui
