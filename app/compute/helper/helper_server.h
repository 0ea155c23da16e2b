#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string_view>

#include "compute/device/device.h"

namespace warpscope::compute {

/// Opens a device by its name, as pick_device does.
using OpenDevice = std::function<std::unique_ptr<Device>(std::string_view wish)>;

/// The main loop of a helper process: answers the requests of the protocol (helper_wire.h) on the
/// socket `fd`. The transfer memory is the file `fd` + 1. When the other end of the socket is
/// closed, the process ends, even during a launch. Returns the exit code: 1 after an invalid
/// request.
int serve_helper(int fd, const OpenDevice& open_device);

/// The part of serve_helper() that needs no process of its own: answers requests until it throws
/// HelperLost or WireError.
[[noreturn]] void serve_requests(int fd, std::span<std::byte> transfer_memory,
                                 const OpenDevice& open_device);

}  // namespace warpscope::compute
