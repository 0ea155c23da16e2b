#pragma once

namespace warpscope::ui {

/// A rectangle in layout units. The y axis points downwards.
struct Box {
    float x = 0, y = 0, width = 0, height = 0;
};

}  // namespace warpscope::ui
