#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "compute/device/enum_words.h"
#include "emulator/judge.h"
#include "experiments/launch/proposal_words.h"

namespace warpscope::jobs {

/// Reads a list such as "race,memory"; "leaks" includes "memory". Throws UsageError that names an
/// unknown word and lists the known ones.
emulator::CheckChoice parse_checks(std::string_view text);

/// What was guessed for the launch of the kernel that an error names; null: nothing.
const std::vector<std::string>* guesses_of(std::string_view error,
                                           const experiments::ProposalWords& proposal);
/// Findings in kernels whose launch was guessed in part become warnings that say so, and so does
/// the error that ended the run. Returns what is to be said of the plan.
experiments::ProposalWords mark_guesses(emulator::Verdict& verdict,
                                        const std::shared_ptr<const experiments::LaunchPlan>& plan,
                                        const std::vector<experiments::Assignment>& values);

/// The faults of the host program of a proposed plan that are known before a kernel runs. Null:
/// there is no plan.
std::vector<emulator::Finding> faults_of_host_program(const experiments::LaunchPlan* plan);

}  // namespace warpscope::jobs

template <>
inline constexpr std::array warpscope::compute::words_of<warpscope::emulator::Severity>{
    Word<emulator::Severity>{emulator::Severity::warning, "warning", "Warnings"},
    Word<emulator::Severity>{emulator::Severity::error, "error", "Errors"},
};
