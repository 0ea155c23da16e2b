#pragma once

#include <memory>
#include <string>

#include "compute/pick_ranks.h"
#include "experiments/framework/experiment.h"

namespace warpscope::experiments {

/// The device of a wish for an experiment: with all ranks if they can share its work, or else the
/// first device alone. Throws what compute::pick_ranks() throws.
inline std::unique_ptr<compute::Device> pick_for(
    const Entry& entry, const std::string& wish,
    std::shared_ptr<compute::Processes> processes = nullptr) {
    if (entry.has_ranks) return compute::pick_ranks(wish, std::move(processes));
    return compute::pick_first(wish);
}

}  // namespace warpscope::experiments
