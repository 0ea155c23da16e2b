#pragma once

#include "compute/emulated/emulated_device.h"
#include "emulator/observe/observer_list.h"

namespace warpscope::compute {

/// While it exists, a device has an observer beside the one that observes it already.
class Observing {
  public:
    Observing(EmulatedDevice& device, emulator::Observer& observer)
        : device_(device), before_(device.observe(&observer)) {
        if (!before_) return;
        both_.add(*before_);
        both_.add(observer);
        device_.observe(&both_);
    }
    Observing(const Observing&) = delete;
    Observing& operator=(const Observing&) = delete;
    ~Observing() { device_.observe(before_); }

  private:
    EmulatedDevice& device_;
    emulator::Observer* before_;
    emulator::ObserverList both_;
};

}  // namespace warpscope::compute
