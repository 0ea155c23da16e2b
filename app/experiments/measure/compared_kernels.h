#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "compute/device/device.h"
#include "experiments/framework/report.h"

namespace warpscope::experiments {

/// Calls `launches` and counts the work of the launches that it makes (but not of a
/// SharedMemoryCleaner), for `elements` elements of the experiment. nullopt on a device other than
/// the emulator of this process.
std::optional<Comparison::Counts> count_work(compute::Device& device, double elements,
                                             const std::function<void()>& launches);

/// Median device time, in ms, of the newest `launches` launches of a kernel. Waits for them. 0 if
/// there were none.
double newest_median_ms(compute::Device& device, std::string_view kernel, std::size_t launches);
/// The nearest-rank quantile `q` of these times, 0 < q <= 1. Waits for them. 0 if there were none.
double newest_quantile_ms(compute::Device& device, std::string_view kernel, std::size_t launches,
                          double q);

constexpr std::size_t most_launches = 101;
/// Returns how many launches of `ms` each to measure: on a GPU as many as fit into 100 ms, at least
/// 9 and at most most_launches; 3 on the emulator, whose times matter little.
std::size_t launches_worth(const compute::Device& device, double ms);

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
