#pragma once

#include <memory>
#include <utility>

#include "compute/device/device.h"

namespace warpscope::compute {

/// While it exists, the progress says that the driver compiles kernels.
class Compiling {
  public:
    explicit Compiling(std::shared_ptr<LaunchProgress> progress) : progress_(std::move(progress)) {
        if (progress_) progress_->set_compiling(true);
    }
    Compiling(const Compiling&) = delete;
    Compiling& operator=(const Compiling&) = delete;
    ~Compiling() {
        if (progress_) progress_->set_compiling(false);
    }

  private:
    const std::shared_ptr<LaunchProgress> progress_;
};

}  // namespace warpscope::compute
