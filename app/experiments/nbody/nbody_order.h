#pragma once

#include <cstdint>
#include <optional>

#include "compute/device/exchange.h"
#include "experiments/bodies/bodies.h"
#include "experiments/nbody/nbody_kernel.h"
#include "experiments/nbody/nbody_partition.h"
#include "experiments/nbody/nbody_picture.h"
#include "experiments/nbody/nbody_rank.h"

namespace warpscope::experiments {

/// What the process of rank 0 tells the other processes to do with their ranks of one NBodyState.
struct NBodyOrder {
    enum class Task : std::uint32_t { make, drop, step, find_forces, gather, draw, times };

    Task task = Task::make;
    std::uint32_t state = 0;  ///< which one; each has a number of its own
    NBodyKernel kernel = NBodyKernel::tiled;
    compute::Math math = compute::Math::precise;
    bool has_partition = false;  ///< false: each rank takes the best one
    NBodyPartition partition{};
    NBodyStep step{};
    NBodyView view{};
};

/// Tells an order, and with the task `make` the bodies. Does nothing if no other process computes
/// with this one, and in a process that follows.
void tell(compute::Exchange* exchange, const NBodyOrder& order, const Bodies& bodies = {});

/// Carries out the orders of rank 0 until it ends.
void follow_nbody(compute::Device& device);

}  // namespace warpscope::experiments
