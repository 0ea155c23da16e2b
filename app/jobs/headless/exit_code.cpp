#include <algorithm>

#include "jobs/headless/check_request.h"
#include "jobs/headless/headless.h"
#include "jobs/output/verdict.h"

namespace warpscope::jobs {

int exit_code(const RunResult& r) {
    // What may come from a guess is no error any more.
    const auto is_of_guess = [&](const emulator::Finding& f) {
        return f.severity < emulator::Severity::error && r.proposal.guesses.contains(f.kernel);
    };
    const auto fails = [&](const emulator::Finding& finding) {
        return finding.severity >= r.fail_on && !is_of_guess(finding);
    };
    const bool has_findings = std::ranges::any_of(r.verdict.findings, fails);
    // An invalid access that rests on a guess has ended the run.
    const bool is_guessed =
        std::ranges::any_of(r.verdict.findings, [&](const emulator::Finding& f) {
            return f.kind == emulator::FindingKind::memory && is_of_guess(f);
        });
    const bool stopped =
        !r.verdict.error.empty() && !is_guessed && !guesses_of(r.verdict.error, r.proposal);
    if (experiments::has_failure(r.report) || has_findings) return 1;
    if (stopped) return r.verdict.timed_out ? no_verdict : 1;
    if (!r.comparison) return 0;
    for (const auto& row : r.comparison->rows) {
        if (row.verdict == experiments::Verdict::fail) return 1;
    }
    return 0;
}

}  // namespace warpscope::jobs
