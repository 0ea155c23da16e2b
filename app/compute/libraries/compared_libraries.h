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

/// NVIDIA's CUB for the benchmark, in a shared library that is loaded at run time. CMake's target
/// warpscope_bench builds it from tests/bench/cub_sum.cu.
class Cub {
  public:
    /// The name of sum() in the timings.
    static constexpr std::string_view sum_name = "cub::DeviceReduce::Sum";

    /// Null if the device is not a GPU of this process, or if `library` can't be loaded. The
    /// default is libwarpscope_cub.so beside the program. The device must outlive the object.
    static std::unique_ptr<Cub> load(Device& device, const std::string& library = "");

    /// Queues *result = sum of x[0..n), n < 2^31, timed as sum_name. Throws DeviceError.
    void sum(DevicePointer<float> x, std::size_t n, DevicePointer<float> result);

  private:
    using Sum = int (*)(void* scratch, std::size_t* scratch_bytes, const float* x, float* result,
                        int n, void* stream);
    Cub(Device& device, Sum sum) : device_(device), sum_(sum) {}

    Device& device_;
    Sum sum_;
    Buffer<std::byte> scratch_;
};

}  // namespace warpscope::compute
