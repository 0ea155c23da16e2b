#pragma once

#include <memory>

#include "compute/device/device.h"

namespace warpscope::compute {

/// NVIDIA's CUB for the benchmark, in a shared library that is loaded at run time. CMake's target
/// bench_comparisons builds it from tests/bench/cub_sum.cu.
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
