#pragma once

#include "compute/device/device.h"

namespace warpscope::experiments {

/// Sets the shared memory of every multiprocessor to 0, so that the result of a race does not
/// depend on the kernels that ran before.
class SharedMemoryCleaner {
  public:
    static constexpr const char* kernel_name = "clear_shared";
    explicit SharedMemoryCleaner(compute::Device& device);
    void launch();

  private:
    compute::Device& device_;
    compute::Kernel<int> kernel_;
};

}  // namespace warpscope::experiments
