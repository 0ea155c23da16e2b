#pragma once

#include <chrono>
#include <future>
#include <optional>
#include <string>

#include "compute/ceilings.h"

namespace warpscope::ui {

/// The state of the GPU in use: its clocks and what throttles them.
class DeviceFacts {
  public:
    /// The GPU's state of at most a second ago; nullopt where it is not known. Never waits: another
    /// thread asks the driver.
    const std::optional<compute::GpuState>& gpu(const compute::DeviceInfo& device);

  private:
    std::string asked_;  ///< the bus id that `gpu_` is of
    std::optional<compute::GpuState> gpu_;
    std::future<std::optional<compute::GpuState>> answer_;
    std::chrono::steady_clock::time_point ask_at_{};
};

}  // namespace warpscope::ui
