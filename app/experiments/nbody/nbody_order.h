#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "compute/device/exchange.h"
#include "compute/ranks/calls.h"
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

class NBodyState;

/// Has the processes of all ranks of a state carry out an order about it: tells the others, with
/// the task `make` the bodies too, and calls `own`, the part of this process. It can't be cancelled
/// halfway, and an error of `own` is DeviceLost, because the others wait for this process. In a
/// process that follows, and where the state has no other process, it only calls `own`.
void carry_out(const NBodyState& state, NBodyOrder order, const std::function<void()>& own,
               const Bodies& bodies = {});

/// Carries out the orders of rank 0 with the ranks of this process.
std::unique_ptr<compute::CallReceiver> make_nbody_follower(compute::Device& device);

}  // namespace warpscope::experiments
