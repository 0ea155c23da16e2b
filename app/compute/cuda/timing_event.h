#pragma once

#include <utility>

#include "compute/cuda/cuda_check.h"
#include "compute/cuda/driver.h"

namespace warpscope::compute {

/// A moment in the work of a stream, once it is recorded. Throws DeviceError where it can't be
/// made.
struct TimingEvent {
    CudaEvent handle = nullptr;

    TimingEvent() { cuda_check(cuda().event_create(&handle, 0), "creating a timing event"); }
    TimingEvent(TimingEvent&& other) noexcept : handle(std::exchange(other.handle, nullptr)) {}
    TimingEvent& operator=(TimingEvent&& other) noexcept {
        std::swap(handle, other.handle);
        return *this;
    }
    ~TimingEvent() {
        if (handle) cuda().event_destroy(handle);
    }
};

}  // namespace warpscope::compute
