#pragma once

#include <memory>

#include "experiments/framework/experiment.h"

namespace warpscope::experiments {

/// An experiment and the device that it alone uses. A run without a window shares both with the
/// stage that draws its screenshot.
template <class DeviceType>
struct RunningOn {
    std::shared_ptr<DeviceType> device;
    std::shared_ptr<Experiment> experiment;  ///< destroyed before its device
};
using Running = RunningOn<compute::Device>;

/// An experiment in an emulator whose kernels failed in the frame that it stands before.
struct FailedRun {
    SharedEntry entry;
    Running running;
    emulator::Dim3 block;  ///< the one that failed
};

}  // namespace warpscope::experiments
