#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "compute/device/device.h"
#include "compute/ranks/processes.h"

namespace warpscope::compute {

/// The device that `--device` names: "auto", "cuda", "cuda:N" or "emulator". "auto" takes the first
/// GPU that the driver can use, else the emulator; info().reason says why. Throws DeviceError if
/// the device is not there, std::invalid_argument for another name.
std::unique_ptr<Device> pick_device(std::string_view wish);

/// Every name that pick_device accepts on this machine now, "auto" first.
std::vector<std::string> device_choices();

/// Does what pick_device() does, with ranks: `wish` may name several GPUs, "cuda:0,1" or
/// "cuda:all", and the device computes with those of the other `processes`, unless null. Throws
/// what pick_device() throws, DeviceError that says what to install if the GPUs can't exchange
/// data, and Refused. Process 0 calls this function, the other processes call open_told_ranks().
std::unique_ptr<Device> pick_ranks(std::string_view wish,
                                   std::shared_ptr<Processes> processes = nullptr);
/// Opens the devices of a process other than process 0, for receive_calls().
std::unique_ptr<Device> open_told_ranks(std::string_view wish, std::shared_ptr<Processes> processes,
                                        std::uint32_t exchange);
/// Returns the first device that pick_ranks() would take. It computes alone.
std::unique_ptr<Device> pick_first(std::string_view wish);

/// Returns the wishes with which the app can continue after a GPU of `wish` was lost, the best
/// first: those of its GPUs that work, or one of them if it is their exchange that has failed; the
/// emulator last.
std::vector<std::string> wishes_after_loss(std::string_view wish);
std::vector<std::string> wishes_left(const std::vector<int>& gpus,
                                     const std::function<bool(int gpu)>& works);

/// A name that pick_ranks() accepts, and how it is shown: "cuda:all", "2 × NVIDIA H200".
struct DeviceChoice {
    std::string wish, label;
};

/// Every name that pick_ranks() accepts on this machine now, except lists of GPUs; "auto" first.
std::vector<DeviceChoice> rank_choices();

}  // namespace warpscope::compute
