#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "compute/device/device.h"
#include "compute/emulated/block_trace.h"
#include "experiments/framework/report.h"

namespace warpscope::experiments {

/// Median device time, in ms, of the newest `launches` launches of a kernel; waits for them.
double newest_median_ms(compute::Device& device, std::string_view kernel, std::size_t launches);
/// The same with another nearest-rank quantile, 0 < q <= 1.
double newest_quantile_ms(compute::Device& device, std::string_view kernel, std::size_t launches,
                          double q);

/// How many launches of `ms` each are to be measured: 9 on the emulator, and on a GPU up to
/// most_launches, as a fraction of a second allows.
constexpr std::size_t most_launches = 101;
std::size_t launches_worth(const compute::Device& device, double ms);

/// Bound of |computed - exact| / (sum of the terms' magnitudes) when no term passes through more
/// than `roundings` float roundings: Higham, "Accuracy and Stability of Numerical Algorithms",
/// section 3.1, gamma_n = n u / (1 - n u) with u = 2^-24.
double float_error_bound(double roundings);

/// The bound for a library's sum of n terms: nobody says in what order it adds. At the worst as 256
/// threads on each multiprocessor would, one term after the other, and then a tree of them.
double library_error_bound(const compute::Device& device, std::int64_t n);

/// Steps of a tree that sums `elements`: ceil(log2(elements)).
int tree_steps(unsigned elements);

/// Rows of the first `elements` floats of a block's shared memory, each written by every
/// `threads_per_element`-th thread.
std::vector<Tree::Row> tree_rows(const std::vector<compute::BarrierSnapshot>& snapshots,
                                 std::size_t elements, unsigned threads_per_element = 1);

/// Zeroes the shared memory of every multiprocessor, so that what a race reads doesn't depend on
/// the kernels that ran before.
class SharedMemoryCleaner {
  public:
    explicit SharedMemoryCleaner(compute::Device& device);
    void launch();

  private:
    compute::Device& device_;
    compute::Kernel<int> kernel_;
};

/// Takes inputs out of a GPU's L2 cache by reading other memory of twice its size, so that the next
/// kernel has them from memory. Does nothing where no cache is known, on the emulator for one.
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

/// Throws DeviceError where the inputs of `n` elements can't fit into the device's memory.
void require_memory(const compute::Device& device, std::int64_t n, double bytes_per_element);

/// "1 234 567".
std::string grouped(unsigned long long value);

}  // namespace warpscope::experiments
