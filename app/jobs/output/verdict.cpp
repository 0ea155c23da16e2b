#include "jobs/output/verdict.h"

#include <fmt/format.h>

#include <algorithm>

#include "jobs/output/findings_json.h"
#include "jobs/output/findings_text.h"

namespace warpscope::jobs {

int exit_status(const emulator::Verdict& verdict, emulator::Severity from) {
    const auto is_severe = [&](const emulator::Finding& f) { return f.severity >= from; };
    if (std::ranges::any_of(verdict.findings, is_severe)) return 1;
    if (verdict.error.empty()) return 0;
    return verdict.timed_out ? no_verdict : 1;
}

void add_verdict(Json& json, const emulator::Verdict& verdict,
                 const emulator::CheckChoice& checks) {
    json["checks"] = checks.words();
    json["findings"] = to_json(verdict.findings);
    json["stopped"] = verdict.error.empty() ? Json(nullptr) : Json(verdict.error);
    json["timed_out"] = verdict.timed_out;
    json["not_tried"] = verdict.not_tried;
}

std::string verdict_text(const emulator::Verdict& verdict, const emulator::CheckChoice& checks) {
    std::string text = findings_text(verdict.findings, checks.words());
    for (const std::string& line : verdict.not_tried) text += fmt::format("========= {}\n", line);
    if (verdict.timed_out)
        text += fmt::format(
            "========= No verdict: the time limit ended the run, and the rest of it was not "
            "checked. Check smaller sizes, if this is no endless loop. {}\n",
            verdict.error);
    else if (!verdict.error.empty())
        text += fmt::format("========= The run ended with an error: {}\n", verdict.error);
    return text;
}

}  // namespace warpscope::jobs
