#pragma once

#include <memory>
#include <string>
#include <vector>

#include "experiments/replicas/wrong_results.h"
#include "jobs/output/json.h"

namespace warpscope::jobs {

/// Why an element of the result is wrong.
struct Why {
    experiments::WrongReason reason;
    std::string order;                       ///< of the right run; empty: none is known
    std::size_t nodes = 0, right_nodes = 0;  ///< of the slices
    std::vector<std::string> slice, right;   ///< slice_lines()
};

/// Throws UsageError for an element that is not there, and what the emulator throws.
Why ask_why(std::shared_ptr<const experiments::LaunchState> launch, const std::string& element,
            std::stop_token stop);

Json to_json(const Why& why);
std::string why_text(const Why& why);

}  // namespace warpscope::jobs
