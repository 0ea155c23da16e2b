#pragma once

#include <imgui.h>

namespace warpscope::ui {

/// The place of one block's lanes on a timeline, a lane for each warp.
struct Strip {
    ImVec2 low, high;  ///< corners of the lanes, right of the warps' numbers
    float pitch;       ///< from one lane to the next
    float y(unsigned warp) const { return low.y + pitch * float(warp); }
    float width() const { return high.x - low.x; }
};

}  // namespace warpscope::ui
