#pragma once

#include <functional>
#include <memory>
#include <string_view>

#include "compute/device/device.h"
#include "compute/helper/helper_process.h"

namespace warpscope::compute {

/// Requests that a helper process opens a device and closes the one that it has. `wish` is a name
/// as pick_device takes it. Does not wait.
void ask_for_device(HelperProcess& process, std::string_view wish);
/// Waits for the device that was requested. Must follow ask_for_device(). Throws DeviceError if
/// there is no such device, DeviceLost if the process has ended.
DeviceInfo opened_device(HelperProcess& process, const Patience& patience);

/// Receives the helper process when its device is not needed any more; null if the process was
/// lost.
using GiveBack = std::function<void(std::unique_ptr<HelperProcess>)>;

/// The device that a helper process has opened. Calls wait until the helper process has done the
/// work, launches included; it measures their times. If a launch exceeds its limits, or if it ends
/// the helper process or makes its GPU fail, the launch throws DeviceLost with the name of the
/// kernel. Every later call then throws DeviceLost too, except release() and detach(), which do
/// nothing.
std::unique_ptr<Device> make_helper_device(std::unique_ptr<HelperProcess> process, DeviceInfo info,
                                           GiveBack give_back = {});

}  // namespace warpscope::compute
