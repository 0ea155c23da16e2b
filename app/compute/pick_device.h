#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "compute/device/device.h"

namespace warpscope::compute {

/// The device that `--device` names: "auto", "cuda", "cuda:N" or "emulator". "auto" takes the first
/// GPU that the driver can use, else the emulator; info().reason says why. Throws DeviceError if
/// the device is not there, std::invalid_argument for another name.
std::unique_ptr<Device> pick_device(std::string_view wish);

/// Every name that pick_device accepts on this machine now, "auto" first.
std::vector<std::string> device_choices();

}  // namespace warpscope::compute
