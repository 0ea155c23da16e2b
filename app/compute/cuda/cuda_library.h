#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "compute/cuda/driver.h"

namespace warpscope::compute {

/// A loaded image of kernels, in the context of the thread that loads it. Both functions throw
/// DeviceError with the driver's message; `what` names the image.
class CudaLibrary {
  public:
    explicit CudaLibrary(std::string ptx) : ptx_(std::move(ptx)) {}
    ~CudaLibrary();
    CudaLibrary(const CudaLibrary&) = delete;
    CudaLibrary& operator=(const CudaLibrary&) = delete;

    /// Loads machine code that was made from the text. False if there is none for this GPU or this
    /// driver.
    bool load_binary(std::string_view what, const char* fatbin);
    /// Loads the text, which the driver compiles. `driver_version` is that of cuDriverGetVersion.
    void load_text(std::string_view what, int driver_version);

    CudaModule handle() const { return handle_; }
    /// The PTX that the kernels come from.
    const std::string& ptx() const { return ptx_; }

  private:
    std::pair<CudaStatus, std::string> try_to_load(const char* image);

    CudaModule handle_ = nullptr;
    std::string ptx_;
};

}  // namespace warpscope::compute
