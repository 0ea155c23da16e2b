#pragma once

#include <cstddef>
#include <functional>
#include <string_view>

#include "experiments/framework/measure.h"

namespace warpscope::experiments {

/// Measures kernels whose inputs have to come from memory, whatever their size.
class ColdRuns {
  public:
    explicit ColdRuns(compute::Device& device) : device_(device), cache_(device) {}

    struct Times {
        std::size_t runs = 0;
        double median_ms = 0, p99_ms = 0;  ///< of device time
    };
    /// Calls `run` to warm up and then, with its number, as often as is worth while, each time with
    /// nothing of its inputs in the cache; it launches what the device's timings call `name`.
    Times measure(std::string_view name, const std::function<void(std::size_t number)>& run);

  private:
    compute::Device& device_;
    CacheEvictor cache_;
};

}  // namespace warpscope::experiments
