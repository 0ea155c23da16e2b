#pragma once

#include <chrono>
#include <future>
#include <optional>
#include <string>

#include "compute/ceilings.h"

namespace warpscope::ui {

/// What the panels know of the device in use beside its kernels.
class DeviceFacts {
  public:
    /// Measures the ceilings where nobody has; an error is kept and it isn't tried again.
    void measure(compute::Device& device);
    /// Why there are none; empty where nothing went wrong.
    const std::string& error(const compute::DeviceInfo& device) const;
    /// A second old at most; nothing where the device doesn't say. Never waits: another thread
    /// asks.
    const std::optional<compute::GpuState>& gpu(const compute::DeviceInfo& device);

  private:
    int failed_ = 0;  ///< the ordinal that `error_` is of
    std::string error_;
    std::string asked_;  ///< the bus id that `gpu_` is of
    std::optional<compute::GpuState> gpu_;
    std::future<std::optional<compute::GpuState>> answer_;
    std::chrono::steady_clock::time_point ask_at_{};
};

}  // namespace warpscope::ui
