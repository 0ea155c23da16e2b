#pragma once

#include "compute/device/device.h"

namespace warpscope::compute {

/// While it exists, a stop request does not end the work of a device: other ranks would wait for
/// it.
class Uninterrupted {
  public:
    explicit Uninterrupted(Device& device) : device_(device), limits_(device.launch_limits()) {
        device.set_launch_limits({limits_.time, {}});
    }
    Uninterrupted(const Uninterrupted&) = delete;
    Uninterrupted& operator=(const Uninterrupted&) = delete;
    ~Uninterrupted() { device_.set_launch_limits(limits_); }

  private:
    Device& device_;
    const LaunchLimits limits_;
};

}  // namespace warpscope::compute
