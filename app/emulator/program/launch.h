#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace warpscope::emulator {

/// CUDA's dim3: an extent of a grid or block, or the index of a block or thread in it.
struct Dim3 {
    std::uint32_t x = 1, y = 1, z = 1;
    std::uint64_t count() const { return std::uint64_t(x) * y * z; }
    bool operator==(const Dim3&) const = default;
};

/// The (x, y, z) index of element number `linear` of `extent`; x counts fastest.
constexpr Dim3 index_in(const Dim3& extent, std::uint32_t linear) {
    return {linear % extent.x, linear / extent.x % extent.y, linear / extent.x / extent.y};
}

/// The number of the element of `extent` at `index`: the inverse of index_in().
constexpr std::uint32_t linear_in(const Dim3& extent, const Dim3& index) {
    return index.x + extent.x * (index.y + extent.y * index.z);
}

/// "(3,0,0)"
inline std::string name_of(const Dim3& index) {
    return '(' + std::to_string(index.x) + ',' + std::to_string(index.y) + ',' +
           std::to_string(index.z) + ')';
}

/// The launch configuration of a kernel.
struct LaunchShape {
    Dim3 grid, block;
    std::uint32_t dynamic_shared_bytes = 0;
    bool cooperative = false;  ///< all blocks run together, as with cudaLaunchCooperativeKernel()
    /// Blocks of a cluster, in each direction (PTX ISA 2.2.2, "Cluster of Cooperative Thread
    /// Arrays"). The grid is a multiple of it.
    Dim3 cluster{};

    Dim3 clusters() const { return {grid.x / cluster.x, grid.y / cluster.y, grid.z / cluster.z}; }
};

/// Where a block is: in which cluster of the launch, and which of its blocks it is.
struct ClusterPlace {
    std::uint32_t cluster = 0, rank = 0;  ///< linear indices

    static ClusterPlace of(const LaunchShape& launch, std::uint32_t block) {
        const Dim3 at = index_in(launch.grid, block), &size = launch.cluster;
        return {linear_in(launch.clusters(), {at.x / size.x, at.y / size.y, at.z / size.z}),
                linear_in(size, {at.x % size.x, at.y % size.y, at.z % size.z})};
    }
    /// The inverse of of().
    std::uint32_t block(const LaunchShape& launch) const {
        const Dim3 &size = launch.cluster, in = index_in(size, rank),
                   at = index_in(launch.clusters(), cluster);
        return linear_in(launch.grid,
                         {at.x * size.x + in.x, at.y * size.y + in.y, at.z * size.z + in.z});
    }
};

/// When an asynchronous copy writes its destination. PTX leaves that open, up to the wait for it.
enum class Landing : std::uint8_t {
    random,  ///< at any time, from the seed
    at_once,
    late  ///< when a thread waits for it and no thread of the block can go on
};

/// A copy that does not land at once although Landing says so.
struct HeldCopy {
    std::uint32_t block = 0, warp = 0;
    std::uint32_t number = 0;  ///< among those that the warp starts, from 1 on
    std::uint32_t pc = 0;      ///< of the instruction that has started it; unused in a list
    bool late = false;         ///< as Landing::late; else at the end of the turn that starts it
    bool is(const HeldCopy& other) const {
        return block == other.block && warp == other.warp && number == other.number;
    }
};

/// The order in which the warps of a block take turns.
///   run_to_barrier  the lowest warp first; each runs until it waits at a barrier or ends
///   reverse         the highest warp first; each runs until it waits at a barrier or ends
///   random          a random warp for a random number of instructions, both from the seed; see
///                   WarpScheduler::begin_turn
///   manual          the turns that LaunchSettings::turns lists for the epoch; then as
///                   run_to_barrier, the next warps first
enum class Schedule : std::uint8_t { random, run_to_barrier, reverse, manual };

/// What a barrier waits for. Generations of GPUs differ (CUDA C++ Programming Guide, "Independent
/// Thread Scheduling"; PTX ISA, "bar, barrier").
///   volta         every thread of the block that has not exited
///   before_volta  one arrival of each warp that has not exited. A warp has one program counter, so
///                 the lanes that arrive first count as the whole warp, and the other lanes run
///                 after them.
///   strict        as volta, but it is an error if some lanes of a warp arrive without the others,
///                 as the PTX ISA requires for bar.sync
enum class BarrierPolicy : std::uint8_t { volta, before_volta, strict };

/// What runs kernels on the emulator.
enum class Execution : std::uint8_t {
    automatic,    ///< the interpreter, until compiled code is ready for a kernel that costs time
    interpreted,  ///< the interpreter always
    compiled      ///< compiled code; launches wait until it is ready
};

/// Reads one to three whole numbers separated by commas or spaces: an index in a grid or a block.
std::optional<Dim3> read_index(std::string_view text);

}  // namespace warpscope::emulator
