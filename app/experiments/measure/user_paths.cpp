#include "experiments/measure/user_paths.h"

#include <string_view>

#include "compute/device/kernel_files.h"

namespace warpscope::experiments {
namespace {

void replace_all(std::string& words, std::string_view name, std::string_view by) {
    for (std::size_t at = 0; (at = words.find(name, at)) != std::string::npos; at += by.size())
        words.replace(at, name.size(), by);
}

void name_files(emulator::ThreadAtLine& at, const compute::KernelEdits& edits) {
    at.file = as_named(std::move(at.file), edits);
    for (emulator::HeaderLine& header : at.inlined)
        header.file = as_named(std::move(header.file), edits);
}

}  // namespace

std::string as_named(std::string words, const compute::KernelEdits& edits) {
    for (const auto& [file, edit] : edits) {
        if (!edit->from.empty()) replace_all(words, compute::kernel_path(file), edit->from);
        for (const auto& [name, path] : edit->headers) replace_all(words, name, path);
        for (const auto& [entry, name] : edit->names) replace_all(words, entry, name);
    }
    return words;
}

files::Sentence as_named(files::Sentence words, const compute::KernelEdits& edits) {
    return words.change_texts([&](std::string& text) { text = as_named(std::move(text), edits); });
}

files::Sentence as_shown(files::Sentence words, const compute::KernelEdits& edits) {
    return as_named(std::move(words), edits).change_texts([&](std::string& text) {
        for (const auto& [file, edit] : edits)
            if (!edit->copies.empty()) replace_all(text, edit->copies, "");
    });
}

std::vector<emulator::Finding> as_named(std::vector<emulator::Finding> findings,
                                        const compute::KernelEdits& edits) {
    for (emulator::Finding& finding : findings) {
        finding.sentence = as_named(std::move(finding.sentence), edits);
        finding.repaired_too = as_named(std::move(finding.repaired_too), edits);
        finding.kernel = as_named(std::move(finding.kernel), edits);
        if (finding.witness) {
            finding.witness->sentence = as_named(std::move(finding.witness->sentence), edits);
            for (files::Sentence& turn : finding.witness->turns)
                turn = as_named(std::move(turn), edits);
        }
        name_files(finding.first, edits);
        if (finding.second) name_files(*finding.second, edits);
    }
    return findings;
}

emulator::Verdict as_named(emulator::Verdict verdict, const compute::KernelEdits& edits) {
    verdict.findings = as_named(std::move(verdict.findings), edits);
    verdict.error = as_named(std::move(verdict.error), edits);
    for (std::string& line : verdict.not_tried) line = as_named(std::move(line), edits);
    return verdict;
}

void name_kernels(std::vector<compute::KernelTiming>& timings,
                  std::vector<emulator::KernelCounters>& counters,
                  const compute::KernelEdits& edits) {
    for (compute::KernelTiming& timing : timings)
        timing.name = as_named(std::move(timing.name), edits);
    for (emulator::KernelCounters& counted : counters)
        counted.kernel = as_named(std::move(counted.kernel), edits);
}

}  // namespace warpscope::experiments
