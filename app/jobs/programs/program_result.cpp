#include "jobs/programs/program_result.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>

#include "compute/device/number_text.h"
#include "emulator/program/source_line.h"
#include "jobs/headless/counters.h"
#include "jobs/output/verdict.h"

namespace warpscope::jobs {

namespace {

using programs::KernelLaunches;
using programs::ProgramReport;

void replace(std::string& text, const std::string& from, const std::string& to) {
    for (std::size_t at = 0; !from.empty() && (at = text.find(from, at)) != text.npos;
         at += to.size())
        text.replace(at, from.size(), to);
}

void shorten(emulator::Finding& finding, const std::string& folder) {
    bool is_named = false;  // the first time that a sentence names its kernel is enough
    finding.sentence.change_texts([&](std::string& text) {
        if (const std::string before = text; !is_named)
            is_named = before != (text = emulator::with_kernel_name(before, finding.kernel));
        replace(text, folder, "");
    });
    finding.kernel = emulator::kernel_name(finding.kernel);
    for (emulator::ThreadAtLine* at :
         {&finding.first, finding.second ? &*finding.second : nullptr}) {
        if (!at) continue;
        replace(at->file, folder, "");
        for (emulator::HeaderLine& line : at->inlined) replace(line.file, folder, "");
    }
    for (emulator::Finding& other : finding.repaired_too) shorten(other, folder);
}

Json kernels_json(const std::map<std::string, KernelLaunches>& kernels) {
    Json json = Json::array();
    for (const auto& [name, launches] : kernels) {
        json.push_back(
            {{"name", name}, {"launches", launches.launches}, {"ms", 1e3 * launches.seconds}});
        if (!launches.blocks) continue;
        json.back()["blocks"] = launches.blocks;
        json.back()["watched_blocks"] = launches.watched;
    }
    return json;
}

std::string kernels_text(const ProgramReport& process) {
    std::string text = fmt::format("{}\n", process.command);
    for (const auto& [name, launches] : process.kernels)
        text += fmt::format("  {:<32} {:>6} {:<8} {:>10.3f} ms\n", name, launches.launches,
                            compute::noun(launches.launches, "launch"), 1e3 * launches.seconds);
    if (!process.has_ended)
        text +=
            "  the process did not come to its end: launches of its last part may be missing, and "
            "what is looked for at the end\n";
    for (const std::string& note : process.notes) text += fmt::format("  {}\n", note);
    if (!process.missing.empty())
        text +=
            fmt::format("  calls that are not supported: {}\n", fmt::join(process.missing, ", "));
    return text;
}

}  // namespace

emulator::Verdict ProgramResult::verdict() const {
    emulator::Verdict verdict;
    std::vector<std::vector<emulator::Finding>> lists;
    for (const ProgramReport& process : processes) {
        lists.push_back(process.findings);
        verdict.not_tried.insert(verdict.not_tried.end(), process.not_tried.begin(),
                                 process.not_tried.end());
        for (const auto& [name, launches] : process.kernels)
            if (launches.watched < launches.blocks)
                verdict.not_tried.push_back(
                    fmt::format("Of kernel {}, {} of {} blocks were watched; --blocks all watches "
                                "all.",
                                name, launches.watched, launches.blocks));
        if (verdict.error.empty() && !process.errors.empty())
            verdict.error = process.errors.front();
    }
    verdict.findings = emulator::merged(lists);
    verdict.timed_out = verdict.error.empty() && !stopped.empty();
    if (verdict.timed_out) verdict.error = stopped;
    return verdict;
}

void make_readable(ProgramReport& report, const std::string& folder) {
    for (emulator::Finding& finding : report.findings) shorten(finding, folder);
    std::map<std::string, KernelLaunches> kernels;
    for (const auto& [symbol, launches] : report.kernels)
        kernels[emulator::kernel_name(symbol)] = launches;
    report.kernels = std::move(kernels);
    for (emulator::KernelCounters& kernel : report.counters)
        kernel.kernel = emulator::kernel_name(kernel.kernel);
    for (auto* lines : {&report.errors, &report.notes})
        for (std::string& line : *lines) replace(line, folder, "");
    replace(report.stopped, folder, "");
}

Json to_json(const ProgramResult& result) {
    Json processes = Json::array();
    for (const ProgramReport& process : result.processes) {
        processes.push_back({{"command", process.command},
                             {"kernels", kernels_json(process.kernels)},
                             {"errors", process.errors},
                             {"notes", process.notes},
                             {"missing", process.missing},
                             {"ended", process.has_ended}});
        if (result.counted) processes.back()["counters"] = to_json(process.counters);
    }
    Json json = {{"command", result.command},
                 {"exit_status", result.exit_status},
                 {"signal", result.signal ? Json(result.signal) : Json(nullptr)},
                 {"processes", std::move(processes)}};
    if (result.confined) json["refused"] = result.refused;
    json["timed_out"] = !result.stopped.empty();
    if (!result.stopped.empty()) json["stopped"] = result.stopped;
    if (!result.checks.has_checks()) return json;
    const emulator::Verdict verdict = result.verdict();
    add_verdict(json, verdict, result.checks, result.known);
    for (std::size_t k = 0; result.with_forms && k < verdict.findings.size(); ++k)
        json["findings"][k]["form"] = verdict.findings[k].sentence;
    return json;
}

namespace {

/// What has ended the program or kept it from something.
std::string ending_text(const ProgramResult& result) {
    std::string text;
    if (result.signal)
        text += fmt::format("the program was ended by signal {}: {}\n", result.signal,
                            strsignal(result.signal));
    if (!result.refused.empty())
        text += fmt::format("confinement refused: {}\n", fmt::join(result.refused, "; "));
    if (!result.stopped.empty() && !result.checks.has_checks())
        text += fmt::format(
            "========= No verdict: the time limit ended the program, and the rest of it was not "
            "checked: {}\n",
            result.stopped);
    return text;
}

}  // namespace

std::string summary(const ProgramResult& result) {
    if (result.processes.empty()) return "the program has not used CUDA\n" + ending_text(result);
    const bool emulated = std::ranges::all_of(result.processes, &ProgramReport::emulated);
    std::string text = emulated ? "kernels (emulated: the times are those of this CPU)\n"
                                : "kernels (of the launches that were captured on the GPU)\n";
    for (const ProgramReport& process : result.processes) {
        text += kernels_text(process);
        if (result.counted) text += "\n" + counters_text(process.counters);
    }
    const emulator::Verdict verdict = result.verdict();
    const std::vector<emulator::Finding>& findings = verdict.findings;
    if (result.checks.has_checks())
        text += "\n" + verdict_text(verdict, result.checks, result.known);
    const auto is_at_ptx = [](const emulator::Finding& f) {
        return !f.by_host && f.first.file.empty() && f.first.line > 0;
    };
    const auto is_at_address = [](const emulator::Finding& f) {
        return f.by_host && !f.first.line;
    };
    if (std::ranges::any_of(findings, is_at_address))
        text += "Lines of the host's code need debug information: build the program with -g.\n";
    if (std::ranges::any_of(findings, is_at_ptx))
        text +=
            "The lines are those of the PTX: build the program with nvcc -lineinfo, or with "
            "NVCC_APPEND_FLAGS=-lineinfo.\n";
    return text + ending_text(result);
}

}  // namespace warpscope::jobs
