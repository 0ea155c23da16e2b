#pragma once

#include "compute/cuda/cuda_check.h"

namespace warpscope::compute {

/// The context that CUDA's libraries and OpenGL interop use too (CUDA Driver API, "Primary Context
/// Management"). It lives until the process ends, because these libraries keep handles in it.
class PrimaryContext {
  public:
    /// Throws DeviceError.
    explicit PrimaryContext(int ordinal);

    CudaDeviceNumber device() const { return device_; }
    /// Makes it the context of this thread's calls.
    void make_current() const noexcept { cuda().context_set(context_); }

  private:
    CudaDeviceNumber device_ = 0;
    CudaContext context_ = nullptr;
};

}  // namespace warpscope::compute
