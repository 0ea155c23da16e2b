#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "compiler/host/template_kernels.h"
#include "jobs/headless/headless.h"

namespace warpscope::jobs {

void tell_guesses(RunResult& result, const experiments::LaunchPlan& plan,
                  std::span<const experiments::Assignment> values) {
    if (!plan.is_proposed()) return;
    Proposal& proposal = result.proposal;
    proposal.launch_file = experiments::to_json_text(plan.file);
    for (const std::string& guess : plan.guesses)
        if (std::ranges::find(values, guess, &experiments::Assignment::id) == values.end())
            proposal.guesses.push_back(guess);
    for (const compiler::Signature& kernel : plan.signatures)
        if (kernel.entry != plan.launches[0].entry) proposal.not_launched.push_back(kernel.name);
    for (const std::string& name : plan.templates)
        proposal.not_launched.emplace_back(compiler::template_name(name));
    const std::string sentence = fmt::format(
        " This may come from what was guessed for the launch: {}. Write a launch file to be sure.",
        fmt::join(proposal.guesses, ", "));
    if (!result.stopped.empty()) result.stopped += "." + sentence;
    for (emulator::Finding& finding : result.findings) {
        finding.severity = std::min(finding.severity, emulator::Severity::warning);
        finding.sentence += sentence;
    }
}

int exit_code(const RunResult& r) {
    // What is found in a proposed launch may come from a guess.
    const bool is_sure = r.proposal.launch_file.empty();
    const auto fails = [&](const emulator::Finding& finding) {
        return finding.severity >= r.fail_on;
    };
    const bool has_findings = is_sure && std::ranges::any_of(r.findings, fails);
    if (experiments::has_failure(r.report) || has_findings) return 1;
    if (is_sure && !r.stopped.empty()) return r.timed_out ? no_verdict : 1;
    if (!r.comparison) return 0;
    for (const auto& row : r.comparison->rows) {
        if (row.verdict == experiments::Verdict::fail) return 1;
    }
    return 0;
}

}  // namespace warpscope::jobs
