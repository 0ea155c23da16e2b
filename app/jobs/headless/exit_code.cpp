#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "compiler/host/template_kernels.h"
#include "jobs/headless/headless.h"
#include "jobs/output/verdict.h"

namespace warpscope::jobs {

void tell_guesses(RunResult& result, const experiments::LaunchPlan& plan,
                  std::span<const experiments::Assignment> values) {
    if (!plan.is_proposed()) return;
    Proposal& proposal = result.proposal;
    proposal.launch_file = launches::to_json_text(plan.file);
    for (const std::string& guess : plan.guesses)
        if (std::ranges::find(values, guess, &experiments::Assignment::id) == values.end())
            proposal.guesses.push_back(guess);
    for (const compiler::Signature& kernel : plan.signatures)
        if (kernel.entry != plan.launches[0].entry) proposal.not_launched.push_back(kernel.name);
    for (const std::string& name : plan.templates)
        proposal.not_launched.emplace_back(compiler::template_name(name));
    if (proposal.guesses.empty()) return;
    const std::string sentence = fmt::format(
        " This may come from what was guessed for the launch: {}. Write a launch file to be sure.",
        fmt::join(proposal.guesses, ", "));
    if (!result.verdict.error.empty()) result.verdict.error += "." + sentence;
    for (emulator::Finding& finding : result.verdict.findings) {
        finding.severity = std::min(finding.severity, emulator::Severity::warning);
        finding.sentence += sentence;
    }
}

int exit_code(const RunResult& r) {
    // What is found may come from a guess.
    const bool is_sure = r.proposal.guesses.empty();
    if (experiments::has_failure(r.report)) return 1;
    if (const int status = exit_status(r.verdict, r.fail_on); is_sure && status) return status;
    if (!r.comparison) return 0;
    for (const auto& row : r.comparison->rows) {
        if (row.verdict == experiments::Verdict::fail) return 1;
    }
    return 0;
}

}  // namespace warpscope::jobs
