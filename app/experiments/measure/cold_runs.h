#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "compute/device/device.h"
#include "experiments/framework/report.h"

namespace warpscope::experiments {

/// Removes the inputs of kernels from a GPU's L2 cache by reading other memory of twice its size.
/// Does nothing on a device whose cache size is not known, such as the emulator.
class CacheEvictor {
  public:
    explicit CacheEvictor(compute::Device& device);
    void launch();

  private:
    using Floats = compute::DevicePointer<float>;

    compute::Device& device_;
    compute::Kernel<Floats, Floats, unsigned> read_;
    compute::Buffer<float> others_, sums_;
};

/// Measures kernels that read their inputs from memory, not from a cache.
class ColdRuns {
  public:
    explicit ColdRuns(compute::Device& device) : device_(device), cache_(device) {}

    struct Times {
        std::size_t runs = 0;
        double median_ms = 0, p99_ms = 0;            ///< device time
        std::optional<Comparison::Counts> counts{};  ///< the counts of one run

        /// The row of a kernel that reads and writes `bytes`.
        Comparison::Row row(std::string id, std::string label, double bytes, double error,
                            Verdict verdict) const;
    };
    /// Calls `run` to warm up and to count its work for `elements` elements, then launches_worth()
    /// times with a cold cache. Its argument is the number of the run. `run` launches the kernel
    /// that the device's timings call `name`.
    Times measure(std::string_view name, double elements,
                  const std::function<void(std::size_t number)>& run);

  private:
    compute::Device& device_;
    CacheEvictor cache_;
};

}  // namespace warpscope::experiments
