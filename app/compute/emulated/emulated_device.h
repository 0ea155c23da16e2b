#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "compute/device/device.h"
#include "emulator/machine/machine.h"

namespace warpscope::compute {

/// The SIMT emulator as a device: launches run at once, on the CPU, from the embedded PTX.
class EmulatedDevice : public Device {
  public:
    /// Sees the launches and memory that follow; null takes it off. Returns the observer before.
    virtual emulator::Observer* observe(emulator::Observer* observer) = 0;
    virtual emulator::Machine& machine() = 0;
    /// Runs the launches that `launches` makes, but for the last one: that isn't run, and returned.
    /// Throws DeviceError where there is none.
    virtual emulator::FrozenLaunch freeze_last(const std::function<void()>& launches) = 0;
};

/// Half of the machine's memory, so that a size too large is refused and not swapped.
std::size_t usual_emulator_memory();
/// `memory_bytes`: what allocations may take in all.
std::unique_ptr<EmulatedDevice> make_emulated_device(
    std::string reason, std::size_t memory_bytes = usual_emulator_memory());

/// An emulator that is like another device: with that device's settings and kernels.
struct EmulatorSetup {
    std::string reason;  ///< DeviceInfo::reason
    std::size_t memory_bytes = usual_emulator_memory();
    RunSettings settings{};
    KernelEdits edits{};
    LaunchLimits limits{};
};
std::unique_ptr<EmulatedDevice> make_emulated_device(EmulatorSetup setup);

}  // namespace warpscope::compute
