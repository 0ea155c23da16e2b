#pragma once

#include <functional>
#include <memory>
#include <string_view>

#include "compute/device/device.h"
#include "compute/helper/helper_process.h"

namespace warpscope::compute {

/// Asks a helper process for a device, as pick_device takes it, in place of the one that it has;
/// doesn't wait.
void ask_for_device(HelperProcess& process, std::string_view wish);
/// What it then opened; the only call after it. Throws DeviceError, DeviceLost where the process
/// ended.
DeviceInfo opened_device(HelperProcess& process, const Patience& patience);

/// Takes a process over when its device is not needed any more; null where it was lost.
using GiveBack = std::function<void(std::unique_ptr<HelperProcess>)>;

/// A helper process's device as one of this process. Launches have ended when they return, and
/// their times are the helper's. Where a launch doesn't end within its limits, or ends the helper
/// or its GPU, that is a DeviceLost that names the kernel; from then on every call is one, but for
/// release and detach, which do nothing.
std::unique_ptr<Device> make_helper_device(std::unique_ptr<HelperProcess> process, DeviceInfo info,
                                           GiveBack give_back = {});

}  // namespace warpscope::compute
