#include "jobs/output/findings_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <utility>

#include "compute/device/sentences.h"
#include "jobs/output/files_and_terminal.h"

namespace warpscope::jobs {

namespace {

using emulator::Finding;
using emulator::FindingKind;

constexpr std::string_view margin = "========= ";
constexpr std::size_t text_columns = 86;

std::string what(const Finding& f) {
    switch (f.kind) {
        case FindingKind::race:
            return fmt::format("{} race between {} and {}", to_string(f.hazard), f.first.where(),
                               f.second->where());
        case FindingKind::uninitialized:
            return fmt::format("read of {} memory that no thread wrote, at {}",
                               f.byte ? "shared" : "global", f.first.where());
        case FindingKind::barrier:
            return fmt::format("barrier not reached by all threads, at {}", f.first.where());
        case FindingKind::members:
            return fmt::format("wrong member mask at {}", f.first.where());
        case FindingKind::undefined:
            return fmt::format("undefined value at {}", f.first.where());
        case FindingKind::call:
            return fmt::format("wrong call at {}", f.first.where());
        case FindingKind::leak:
            return fmt::format("leak at {}", f.first.where());
        case FindingKind::unread:
            return fmt::format("error of a launch not asked for, at {}", f.first.where());
        case FindingKind::needed:
            return fmt::format("barrier, fence or wait at {}", f.first.where());
        case FindingKind::memory:
            break;
    }
    return fmt::format("invalid access at {}", f.first.where());
}

/// " This barrier also repairs: …", with a count for each pair of places; "" if it repairs one
/// race.
std::string repaired_words(const Finding& f) {
    std::vector<std::pair<std::string, std::uint64_t>> counts;
    for (const Finding& other : f.repaired_too) {
        const auto at = std::ranges::find(counts, what(other), [](auto& c) { return c.first; });
        if (at != counts.end())
            at->second += other.count;
        else
            counts.emplace_back(what(other), other.count);
    }
    if (counts.empty()) return "";
    std::vector<std::string> words;
    for (const auto& [pair, count] : counts) words.push_back(fmt::format("{} [{}]", pair, count));
    return fmt::format(" {} {}.", words_of_repair(f), fmt::join(words, "; "));
}

std::string paragraph(const Finding& f) {
    static constexpr std::string_view severities[] = {"Note", "Warning", "Error"};
    const std::string place = f.kernel.empty() ? "" : ", in " + f.kernel;
    std::string text = fmt::format("{}{}: {}{} [{}]\n", margin, severities[std::size_t(f.severity)],
                                   what(f), place, compute::plural(f.count, counted_noun(f.kind)));
    const std::string sentences = f.sentence + repaired_words(f);
    const auto add = [&](const std::string& words) {
        for (const std::string& line : wrap(words, text_columns))
            text += fmt::format("{}    {}\n", margin, line);
    };
    add(sentences);
    if (f.witness) {
        add("Witness: " + f.witness->sentence);
        for (const std::string& turn : f.witness->turns) add("  " + turn);
    }
    if (f.provocation) add("On a GPU: " + f.provocation->sentence);
    return text + fmt::format("{}\n", margin.substr(0, margin.size() - 1));
}

}  // namespace

std::string findings_text(const std::vector<Finding>& findings,
                          const std::vector<std::string>& checks) {
    std::string text;
    for (const Finding& f : findings) text += paragraph(f);
    const auto count = [&](emulator::Severity severity, std::string_view noun) {
        return compute::plural(count_of(findings, severity), noun);
    };
    std::string counts = count(emulator::Severity::error, "error") + ", " +
                         count(emulator::Severity::warning, "warning");
    if (count_of(findings, emulator::Severity::note) > 0)
        counts += ", " + count(emulator::Severity::note, "note");
    return text + fmt::format("{}CHECK SUMMARY ({}): {} ({})\n", margin, fmt::join(checks, ", "),
                              compute::plural(findings.size(), "finding"), counts);
}

}  // namespace warpscope::jobs
