#pragma once

namespace warpscope::gl {

/// Whether the Wayland compositor that the environment names has no mouse and no keyboard (no
/// wl_seat). False also where it can't be asked. GLFW 3.4 reads address 0 without a seat.
bool wayland_lacks_seat();

/// Asks the compositor at the other end of a connected socket.
bool lacks_seat(int connected_socket);

}  // namespace warpscope::gl
