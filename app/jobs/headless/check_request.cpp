#include "jobs/headless/check_request.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <ranges>

#include "jobs/output/files_and_terminal.h"

namespace warpscope::jobs {

using emulator::Finding;
using emulator::FindingKind;

emulator::CheckChoice parse_checks(std::string_view text) {
    emulator::CheckChoice checks;
    while (true) {
        const std::string_view word = text.substr(0, text.find(','));
        const auto known = std::ranges::find(emulator::check_words, word,
                                             &decltype(emulator::check_words)::value_type::first);
        if (known == emulator::check_words.end())
            throw UsageError(
                fmt::format("--check {}: write one or more of {}, with commas between them", word,
                            fmt::join(emulator::check_words | std::views::keys, ", ")));
        checks.*known->second = true;
        if (checks.leaks) checks.memory = true;
        if (word.size() == text.size()) return checks;
        text.remove_prefix(word.size() + 1);
    }
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

experiments::ProposalWords mark_guesses(emulator::Verdict& verdict,
                                        const std::shared_ptr<const experiments::LaunchPlan>& plan,
                                        const std::vector<experiments::Assignment>& values) {
    experiments::ProposalWords proposal = experiments::proposal_words(plan, values);
    const auto sentence = [](const std::vector<std::string>& guesses) {
        return fmt::format(
            " This may come from what was guessed for the launch: {}. Write a launch file to be "
            "sure.",
            fmt::join(guesses, ", "));
    };
    if (const auto* guesses = guesses_of(verdict.error, proposal))
        verdict.error += "." + sentence(*guesses);
    for (Finding& finding : verdict.findings) {
        const auto guesses = proposal.guesses.find(finding.kernel);
        if (guesses == proposal.guesses.end()) continue;
        finding.severity = std::min(finding.severity, emulator::Severity::warning);
        finding.sentence += sentence(guesses->second);
    }
    return proposal;
}

}  // namespace warpscope::jobs
