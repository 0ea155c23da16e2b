#pragma once

#include <memory>

#include "compute/device/device.h"

namespace warpscope::compute {

/// NVIDIA's CUB, as the library of the benchmark that cmake's target bench_libraries builds
/// (tests/bench/cub_sum.cu), loaded at run time.
class Cub {
  public:
    /// The name of sum() in the timings.
    static constexpr std::string_view sum_name = "cub::DeviceReduce::Sum";

    /// Null where the device is no GPU of this process or `library`, libwarpscope_cub.so beside the
    /// program by default, isn't there. The device outlives it.
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
