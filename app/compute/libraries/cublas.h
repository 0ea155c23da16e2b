#pragma once

#include <memory>

#include "compute/device/device.h"

namespace warpscope::compute {

/// NVIDIA's cuBLAS, loaded at run time where it is installed.
class Cublas {
  public:
    /// The name of dot() in the timings.
    static constexpr std::string_view dot_name = "cublasSdot";

    /// Null if the device is not a GPU of this process, or if cuBLAS is not installed. `library` is
    /// the path of one library; the default tries those of CUDA 13 and 12. The device must outlive
    /// the object. Throws DeviceError if a call of the library fails.
    static std::unique_ptr<Cublas> load(Device& device, const std::string& library = "");
    ~Cublas();
    Cublas(const Cublas&) = delete;
    Cublas& operator=(const Cublas&) = delete;

    /// Queues *result = sum of x[i] * y[i] over n < 2^31 elements, timed as dot_name. Throws
    /// DeviceError.
    void dot(DevicePointer<float> x, DevicePointer<float> y, std::size_t n,
             DevicePointer<float> result);

  private:
    struct Functions;
    Cublas(Device& device, std::unique_ptr<Functions> functions);

    Device& device_;
    std::unique_ptr<Functions> functions_;
    void* handle_ = nullptr;
};

}  // namespace warpscope::compute
