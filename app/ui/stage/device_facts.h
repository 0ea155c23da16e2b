#pragma once

#include <chrono>
#include <future>
#include <optional>
#include <string>

#include "compute/ceilings.h"

namespace warpscope::ui {

/// What the panels show of the device in use beside its kernels: its ceilings and its state.
class DeviceFacts {
  public:
    /// Measures the ceilings, unless that was done. An error is kept, and nothing is measured
    /// again.
    void measure(compute::Device& device);
    /// Why the ceilings could not be measured; empty: there was no error.
    const std::string& error(const compute::DeviceInfo& device) const;
    /// The GPU's state of at most a second ago; nullopt where it is not known. Never waits: another
    /// thread asks the driver.
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
