#pragma once

#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "experiments/framework/parameter.h"
#include "experiments/launch/launch_plan.h"

namespace warpscope::experiments {

/// What a run without a launch file launched, for people.
struct ProposalWords {
    /// "add<<<16, 256>>>(n = 4096, x: 4096 float)"
    std::vector<std::string> launches;
    /// By kernel: "n", "the size of x". What it finds may come from these.
    std::map<std::string, std::vector<std::string>> guesses;
    /// By kernel: guessed numbers of buffers that lead to no finding, as only results depend on
    /// them.
    std::map<std::string, std::set<std::string>> chosen;
    std::vector<std::string> reduced, not_launched, remarks;
    bool empty() const { return launches.empty(); }
};

/// Words about a proposed plan, for these values of scalars, which are then not guessed. Empty for
/// the plan of a launch file.
ProposalWords proposal_words(const std::shared_ptr<const LaunchPlan>& plan,
                             std::span<const Assignment> values);

}  // namespace warpscope::experiments
