#pragma once

#include "compute/device/device.h"

namespace warpscope::experiments {

/// While it lives, the emulator compiles a kernel before its first launch, which it would otherwise
/// interpret. Times of kernels are then comparable. Observed launches do not wait.
class WaitForCompiler {
  public:
    explicit WaitForCompiler(compute::Device& device)
        : device_(device), before_(device.settings()) {
        compute::RunSettings waiting = before_;
        waiting.waits_for_compiler = true;
        device.set(waiting);
    }
    ~WaitForCompiler() { device_.set(before_); }
    WaitForCompiler(const WaitForCompiler&) = delete;
    WaitForCompiler& operator=(const WaitForCompiler&) = delete;

  private:
    compute::Device& device_;
    const compute::RunSettings before_;
};

}  // namespace warpscope::experiments
