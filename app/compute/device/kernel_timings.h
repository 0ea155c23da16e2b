#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace warpscope::compute {

struct Dim3 {
    unsigned x = 1;
    unsigned y = 1;
    unsigned z = 1;
    std::uint64_t count() const { return std::uint64_t(x) * y * z; }
    bool operator==(const Dim3&) const = default;
};

/// What one launch does, as its caller counts it; zero where it doesn't apply.
struct Work {
    double bytes = 0;         ///< read and written once, in global memory
    double interactions = 0;  ///< body pairs
    double flops = 0;
    bool operator==(const Work&) const = default;
};

/// One kernel's launches: the newest shape and work, and the last `window` times of just these. The
/// first launch also pays for loading the kernel: its time only stands there until there is a
/// second one.
struct KernelTiming {
    static constexpr std::size_t window = 256;

    std::string name;
    Dim3 grid;
    Dim3 block;
    unsigned shared_bytes = 0;  ///< static and dynamic, a block
    std::uint64_t launches = 0;
    Work work;                     ///< of the newest launch
    std::vector<float> recent_ms;  ///< oldest first, at most `window`

    /// The only time is the first launch's.
    bool cold() const { return launches == 1; }
    float last_ms() const { return recent_ms.empty() ? 0.0f : recent_ms.back(); }
    float median_ms() const { return quantile_ms(0.5); }
    float p99_ms() const { return quantile_ms(0.99); }
    /// Nearest-rank quantile of the recent times, 0 < q <= 1; 0 when there are none.
    float quantile_ms(double q) const;
    /// Per second at the median time; 0 when unknown.
    double bytes_per_second() const { return per_second(work.bytes); }
    double interactions_per_second() const { return per_second(work.interactions); }
    double flops_per_second() const { return per_second(work.flops); }

  private:
    double per_second(double amount) const;
};

/// The timings of every kernel launched on one device, in order of first launch.
class KernelTimings {
  public:
    void record(std::string_view name, Dim3 grid, Dim3 block, unsigned shared_bytes,
                const Work& work, float milliseconds);
    const std::vector<KernelTiming>& kernels() const { return kernels_; }
    const KernelTiming* find(std::string_view name) const;
    void clear() { kernels_.clear(); }

  private:
    std::vector<KernelTiming> kernels_;
};

}  // namespace warpscope::compute
