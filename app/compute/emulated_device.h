#pragma once

#include <memory>
#include <string>

#include "compute/device.h"

namespace warpscope::emulator {
class Observer;
}

namespace warpscope::compute {

/// The SIMT emulator as a device: launches run at once, on the CPU, from the embedded PTX.
class EmulatedDevice : public Device {
  public:
    /// Sees the launches and memory that follow; null takes it off. Observed blocks run one after
    /// another. Returns the observer before.
    virtual emulator::Observer* observe(emulator::Observer* observer) = 0;
};

std::unique_ptr<EmulatedDevice> make_emulated_device(std::string reason);

}  // namespace warpscope::compute
