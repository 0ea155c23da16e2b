#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "compute/device/device.h"
#include "compute/emulated/emulated_device.h"
#include "compute/emulated/shared_memory_trace.h"
#include "experiments/framework/report.h"

namespace warpscope::experiments {

/// Returns a bound of |computed - exact| / (sum of the magnitudes of the terms) if no term goes
/// through more than `roundings` float roundings: Higham, "Accuracy and Stability of Numerical
/// Algorithms", section 3.1, gamma_n = n u / (1 - n u) with u = 2^-24.
double float_error_bound(double roundings);

/// The bound for a library's sum of n terms. The order of its additions is not documented. We
/// assume 256 threads on each multiprocessor that add one term after the other, and then a tree of
/// their sums.
double library_error_bound(const compute::Device& device, std::int64_t n);

/// Returns the steps of a tree that sums `elements`: ceil(log2(elements)).
int tree_steps(unsigned elements);

/// The launch configuration for n elements of the kernels *_vectorized and *_single_pass of
/// reduce_ladder.cu and dot_ladder.cu: each thread takes tiles of 16 elements, and the blocks just
/// fill the GPU.
struct GpuSizedGrid {
    /// `threads` is the number on each multiprocessor, in at most 32 blocks of `block` threads.
    GpuSizedGrid(const compute::DeviceInfo& device, std::int64_t n, unsigned block,
                 unsigned threads);

    compute::LaunchShape shape() const { return {.grid = {blocks}, .block = {block}}; }

    unsigned block;  ///< rounded up to whole warps
    unsigned blocks;
    /// Additions that a term takes part in, at most, until the sum of its block is stored.
    double additions;
    /// Additions that the sum of a block takes part in, at most, in the last block.
    double last_additions;
};

/// Throws OutOfMemory, which names the largest possible n, if the memory of the device is smaller
/// than the inputs of `n` elements.
void require_memory(const compute::Device& device, std::int64_t n, double bytes_per_element);

/// An emulator with the settings and the edits of `device`, which its stop request ends too.
/// Launches of edits have limits.
std::unique_ptr<compute::EmulatedDevice> emulator_like(
    const compute::Device& device, std::string reason,
    std::size_t memory_bytes = compute::usual_emulator_memory());

/// The tree of the sum in block 0, of an array that is called `array`. Where it is empty, the sums
/// are those of warps. `sample`: of how many elements, where these are not all.
Tree sum_tree(const compute::SharedMemoryTrace& trace, std::size_t threads, std::string_view array,
              std::string_view kernel, const std::string& sample = {});

}  // namespace warpscope::experiments
