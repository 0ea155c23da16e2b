#pragma once

#include <cstdint>
#include <span>

namespace warpscope::ui {

/// Puts the bytes of a PNG on the clipboard of the desktop, where they stay until something else is
/// copied. GLFW copies only text, so the program xclip (X11) or wl-copy (Wayland) does it. Throws
/// std::runtime_error; where the program is missing, the message names its package.
void copy_png(std::span<const std::uint8_t> png);

}  // namespace warpscope::ui
