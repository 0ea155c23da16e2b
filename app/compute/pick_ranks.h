#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "compute/device/device.h"
#include "compute/ranks/processes.h"

namespace warpscope::compute {

/// pick_device() with ranks: `wish` may name several GPUs, "cuda:0,1" or "cuda:all", and the device
/// computes with those of the other `processes`, unless null. Throws what pick_device() throws, and
/// DeviceError that says what to install if the GPUs can't exchange data.
std::unique_ptr<Device> pick_ranks(std::string_view wish,
                                   std::shared_ptr<Processes> processes = nullptr);

/// A name that pick_ranks() accepts, and how it is shown: "cuda:all", "2 × NVIDIA H200".
struct DeviceChoice {
    std::string wish, label;
};

/// Every name that pick_ranks() accepts on this machine now but lists of GPUs, "auto" first.
std::vector<DeviceChoice> rank_choices();

}  // namespace warpscope::compute
