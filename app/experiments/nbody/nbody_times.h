#pragma once

#include <vector>

#include "experiments/nbody/nbody_state.h"

namespace warpscope::experiments {

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
