#pragma once

#include <cstdint>

#include "emulator/program/dim3.h"

namespace warpscope::emulator {

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

}  // namespace warpscope::emulator
