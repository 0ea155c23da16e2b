#pragma once

#include <cstddef>
#include <string_view>

#include "compute/device/device.h"

namespace warpscope::experiments {

/// The kernels of kernels/nbody.cu, nbody_ladder.cu, nbody_async.cu and nbody_bulk.cu, in the order
/// of the words of nbody.kernel. Each makes one change to the kernel before it; docs/ladder.md
/// describes them. The last five are `tiled` without the barrier after a tile is loaded, without
/// the one before the next tile is loaded, and without both; and `async` and `bulk` without the
/// wait for the copies of a tile.
enum class NBodyKernel {
    float3,
    float4,
    tiled,
    rsqrt,
    unrolled,
    several,
    fast,
    async,
    bulk,
    no_load_barrier,
    no_reuse_barrier,
    no_barriers,
    async_no_wait,
    bulk_no_wait
};

/// The kernels that have all barriers and waits that they need.
inline constexpr NBodyKernel all_nbody_kernels[] = {
    NBodyKernel::float3, NBodyKernel::float4,   NBodyKernel::tiled,
    NBodyKernel::rsqrt,  NBodyKernel::unrolled, NBodyKernel::several,
    NBodyKernel::fast,   NBodyKernel::async,    NBodyKernel::bulk};

/// "nbody_tiled".
constexpr std::string_view name_of(NBodyKernel kernel) {
    constexpr std::string_view names[] = {"nbody_float3",
                                          "nbody_float4",
                                          "nbody_tiled",
                                          "nbody_rsqrt",
                                          "nbody_unrolled",
                                          "nbody_several",
                                          "nbody_fast",
                                          "nbody_async",
                                          "nbody_bulk",
                                          "nbody_no_load_barrier",
                                          "nbody_no_reuse_barrier",
                                          "nbody_no_barriers",
                                          "nbody_async_no_wait",
                                          "nbody_bulk_no_wait"};
    return names[std::size_t(kernel)];
}

constexpr bool has_all_barriers(NBodyKernel kernel) {
    return kernel <= NBodyKernel::bulk;
}

/// The kernel without a wait becomes that with it; others stay.
constexpr NBodyKernel with_wait(NBodyKernel kernel) {
    return kernel == NBodyKernel::async_no_wait  ? NBodyKernel::async
           : kernel == NBodyKernel::bulk_no_wait ? NBodyKernel::bulk
                                                 : kernel;
}
constexpr bool has_copies(NBodyKernel kernel) {
    return with_wait(kernel) == NBodyKernel::async || with_wait(kernel) == NBodyKernel::bulk;
}

/// The kernel without a barrier of the tile becomes that with both; others stay.
constexpr NBodyKernel with_barriers(NBodyKernel kernel) {
    const bool lacks_one =
        kernel >= NBodyKernel::no_load_barrier && kernel <= NBodyKernel::no_barriers;
    return lacks_one ? NBodyKernel::tiled : kernel;
}

/// Divides the bodies that pull among rows of blocks (NBodyPartition): `fast` and those after it.
constexpr bool divides_sums(NBodyKernel kernel) {
    return kernel == NBodyKernel::fast || has_copies(kernel);
}

/// The compute capability that it needs of a GPU.
constexpr int capability_for(NBodyKernel kernel) {
    return !has_copies(kernel) ? 75 : with_wait(kernel) == NBodyKernel::bulk ? 90 : 80;
}

/// "nbody" for a kernel of kernels/nbody.cu.
constexpr std::string_view file_of(NBodyKernel kernel) {
    if (has_copies(kernel)) return name_of(with_wait(kernel));
    return kernel > NBodyKernel::tiled && has_all_barriers(kernel) ? "nbody_ladder" : "nbody";
}

/// How the kernels from `fast` on divide a step among blocks: column x of the grid computes the
/// forces on the x-th `bodies` * `threads` bodies; row y adds the forces of the y-th share of all
/// bodies.
struct NBodyPartition {
    static constexpr unsigned threads = 256;  ///< of a block, and bodies of a tile
    static constexpr unsigned most_rows = 64;
    /// Blocks of nbody_fast or nbody_several on a multiprocessor: their __launch_bounds__ limit
    /// their registers to fit.
    static constexpr unsigned resident_blocks = 3;

    int bodies = 4;     ///< of a thread: 4 (nbody_fast) or 2 (nbody_fast_small)
    unsigned rows = 1;  ///< wanted; see rows_of

    /// Number of columns of blocks that `moved` bodies take.
    unsigned columns_of(std::size_t moved) const;
    /// Bodies that pull in one row: a whole number of turns of the kernel's inner loop.
    int share_of(std::size_t n) const;
    /// At most `rows`, so that each row has a body.
    unsigned rows_of(std::size_t n) const;
    /// Bytes that the partial forces of all rows take.
    std::size_t partial_bytes(std::size_t n) const;

    /// The fastest one for a device that moves `moved` of n bodies, by a model that agrees with
    /// what was measured on an H200 (docs/ladder.md): whole waves of blocks, and no more rows than
    /// those take. On the emulator, where more rows gain nothing, it has two rows.
    static NBodyPartition best(const compute::DeviceInfo& device, std::size_t n, std::size_t moved);
    static NBodyPartition best(const compute::DeviceInfo& device, std::size_t n) {
        return best(device, n, n);
    }
    /// An upper bound of partial_bytes(n) for each partition that best(device, n) returns.
    static std::size_t most_partial_bytes(std::size_t n);
};

}  // namespace warpscope::experiments
