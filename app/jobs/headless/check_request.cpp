#include "jobs/headless/check_request.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "jobs/output/parse_word_list.h"

namespace warpscope::jobs {

using emulator::Finding;
using emulator::FindingKind;

std::vector<std::string> Checks::words() const {
    std::vector<std::string> found;
    if (race) found.emplace_back(compute::name(Check::race));
    if (barrier) found.emplace_back(compute::name(Check::barrier));
    if (memory) found.emplace_back(compute::name(Check::memory));
    if (leaks) found.emplace_back(compute::name(Check::leaks));
    if (needed) found.emplace_back(compute::name(Check::needed));
    return found;
}

Checks parse_checks(std::string_view text) {
    Checks checks;
    for (const Check check : parse_word_list<Check>("--check", text)) {
        if (check == Check::race) checks.race = true;
        if (check == Check::barrier) checks.barrier = true;
        if (check == Check::memory || check == Check::leaks) checks.memory = true;
        if (check == Check::leaks) checks.leaks = true;
        if (check == Check::needed) checks.needed = true;
    }
    return checks;
}

Checking::Checking(compute::EmulatedDevice& device, const Checks& checks, bool counters, bool heat)
    : device_(device),
      set_({.race = checks.race,
            .barrier = checks.barrier,
            .memory = checks.memory,
            .counters = counters,
            .heat = heat},
           device.machine().memory()) {
    device_.observe(&set_.observer());
}

const std::vector<std::string>* guesses_of(std::string_view error,
                                           const experiments::ProposalWords& proposal) {
    for (const auto& [kernel, guesses] : proposal.guesses)
        for (const std::string_view next : {",", ":", " "})
            if (error.find(fmt::format("kernel {}{}", kernel, next)) != error.npos) return &guesses;
    return nullptr;
}

std::vector<Finding> faults_of_host_program(const experiments::LaunchPlan* plan) {
    std::vector<Finding> found;
    if (!plan) return found;
    for (const experiments::HostFault& fault : plan->faults) {
        Finding finding;
        finding.kind = fault.is_refused ? FindingKind::call : FindingKind::memory;
        finding.kernel = fault.kernel;
        finding.by_host = true;
        finding.first.file = plan->file.in_folder(plan->file.source).string();
        finding.first.line = fault.line;
        finding.count = 1;
        finding.sentence = fault.sentence;
        found.push_back(std::move(finding));
    }
    return found;
}

experiments::ProposalWords mark_guesses(std::vector<Finding>& findings, std::string& stopped,
                                        const std::shared_ptr<const experiments::LaunchPlan>& plan,
                                        const std::vector<experiments::Assignment>& values) {
    experiments::ProposalWords proposal = experiments::proposal_words(plan, values);
    const auto sentence = [](const std::vector<std::string>& guesses) {
        return fmt::format(
            " This may come from what was guessed for the launch: {}. Write a launch file to be "
            "sure.",
            fmt::join(guesses, ", "));
    };
    if (const auto* guesses = guesses_of(stopped, proposal)) stopped += "." + sentence(*guesses);
    for (Finding& finding : findings) {
        const auto guesses = proposal.guesses.find(finding.kernel);
        if (guesses == proposal.guesses.end()) continue;
        finding.severity = std::min(finding.severity, emulator::Severity::warning);
        finding.sentence += sentence(guesses->second);
    }
    return proposal;
}

}  // namespace warpscope::jobs
