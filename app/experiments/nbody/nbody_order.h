#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "compute/device/exchange.h"
#include "compute/ranks/processes.h"
#include "experiments/bodies/bodies.h"
#include "experiments/nbody/nbody_kernel.h"
#include "experiments/nbody/nbody_picture.h"
#include "experiments/nbody/nbody_rank.h"
#include "experiments/nbody/nbody_state.h"

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

/// Has the processes of all ranks of a state carry out an order about it: tells the others, with
/// the task `make` the bodies too, and calls `own`, the part of this process. It can't be cancelled
/// halfway, and an error of `own` is DeviceLost, because the others wait for this process. In a
/// process that follows, and where the state has no other process, it only calls `own`.
void carry_out(const NBodyState& state, NBodyOrder order, const std::function<void()>& own,
               const Bodies& bodies = {});

/// Carries out the orders of rank 0 with the ranks of this process.
std::unique_ptr<compute::CallReceiver> make_nbody_follower(compute::Device& device);

/// How long the newest steps of one rank took: medians in ms.
struct RankTime {
    double compute = 0;   ///< the kernels
    double exchange = 0;  ///< the positions on their way
    double waiting = 0;   ///< for the slowest rank
};

/// The time in ms of the kernels of one step, by the median of their newest `launches`.
double compute_ms(const NBodyRank& rank, std::size_t launches);

/// One for each rank; waits until all have answered.
std::vector<RankTime> rank_times(const NBodyState& state);

/// Takes the waiting out of the times of exchanges: the rank that comes last waits for nobody.
std::vector<RankTime> without_waiting(std::vector<RankTime> times);

}  // namespace warpscope::experiments
