#include "jobs/output/verdict.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "compute/device/number_text.h"
#include "emulator/observe/findings.h"
#include "experiments/export/page_and_trace.h"
#include "jobs/output/files_and_terminal.h"
#include "programs/report/findings_json.h"

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
            return (f.severity == emulator::Severity::note
                        ? "two barriers that count as one, at "
                        : "barrier not reached by all threads, at ") +
                   f.first.where();
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
        case FindingKind::failure:
            return fmt::format("failed launch, at {}", f.first.where());
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

std::string paragraph(const Finding& f, const Review& review) {
    static constexpr std::string_view severities[] = {"Note", "Warning", "Error"};
    const std::string place = f.kernel.empty() ? "" : ", in " + f.kernel;
    std::string text = fmt::format("{}{}: {}{} [{}]\n", margin, severities[std::size_t(f.severity)],
                                   what(f), place, compute::plural(f.count, counted_noun(f.kind)));
    const std::string sentences = f.sentence.english() + repaired_words(f);
    const auto add = [&](const std::string& words) {
        for (const std::string& line : wrap(words, text_columns))
            text += fmt::format("{}    {}\n", margin, line);
    };
    add(sentences);
    if (!review.open.empty())
        add(fmt::format("Not known of these: {}", fmt::join(review.open, "; ")));
    if (f.witness) {
        add("Witness: " + f.witness->sentence.english());
        constexpr std::size_t most = 12, first = 3;  // lines of a long order; a file has all
        const std::vector<files::Sentence>& turns = f.witness->turns;
        for (std::size_t k = 0; k < turns.size(); ++k) {
            if (turns.size() > most && k == first) {
                add(fmt::format("  {} more turns", turns.size() - most));
                k += turns.size() - most;
            }
            add("  " + turns[k].english());
        }
    }
    if (f.provocation) add("On a GPU: " + f.provocation->sentence.english());
    return text + fmt::format("{}\n", margin.substr(0, margin.size() - 1));
}

/// "; 2 known, 1 suppressed", and then the reasons, a line for each.
std::string known_text(const Known& known) {
    std::vector<std::string> counts;
    for (const auto& [standing, word] :
         {std::pair{Standing::known, "known"}, {Standing::suppressed, "suppressed"}})
        if (const std::size_t n = known.count(standing))
            counts.push_back(fmt::format("{} {}", n, word));
    std::string text = counts.empty() ? "" : fmt::format("; {}", fmt::join(counts, ", "));
    std::map<std::string, std::size_t> reasons;
    for (const Review& review : known.reviews)
        if (review.standing == Standing::suppressed) ++reasons[review.reason];
    text += "\n";
    for (const auto& [reason, n] : reasons)
        text += fmt::format("{}Suppressed: {} [{}]\n", margin, reason, n);
    return text;
}

/// Returns a text as compute-sanitizer prints it: one paragraph for each finding, then a summary
/// line with the names of the checks.
std::string findings_text(const std::vector<Finding>& all, const std::vector<std::string>& checks,
                          const Known& known) {
    std::string text;
    std::vector<Finding> findings;
    for (std::size_t k = 0; k < all.size(); ++k) {
        const Review review = known.of(k);
        if (review.standing != Standing::fresh) continue;
        findings.push_back(all[k]);
        text += paragraph(all[k], review);
    }
    const auto count = [&](emulator::Severity severity, std::string_view noun) {
        return compute::plural(count_of(findings, severity), noun);
    };
    std::string counts = count(emulator::Severity::error, "error") + ", " +
                         count(emulator::Severity::warning, "warning");
    if (count_of(findings, emulator::Severity::note) > 0)
        counts += ", " + count(emulator::Severity::note, "note");
    return text + fmt::format("{}CHECK SUMMARY ({}): {} ({}){}", margin, fmt::join(checks, ", "),
                              compute::plural(findings.size(), "finding"), counts,
                              known_text(known));
}

/// An error has ended a launch, and no known finding says it.
bool has_other_error(const emulator::Verdict& verdict, const Known& known) {
    using enum FindingKind;
    for (std::size_t k = 0; k < verdict.findings.size(); ++k) {
        const FindingKind kind = verdict.findings[k].kind;
        const bool ends = kind == failure || kind == memory || kind == barrier || kind == members;
        if (ends && known.of(k).standing != Standing::fresh) return false;
    }
    return !verdict.error.empty();
}

bool fails(const emulator::Verdict& verdict, std::size_t k, emulator::Severity from,
           const Known& known) {
    const Finding& f = verdict.findings[k];
    return known.of(k).standing == Standing::fresh && f.severity >= from &&
           !(verdict.timed_out && f.kind == FindingKind::failure);
}

std::string_view to_string(Standing standing) {
    static constexpr std::string_view names[] = {"new", "known", "suppressed"};
    return names[std::size_t(standing)];
}

}  // namespace

int exit_status(const emulator::Verdict& verdict, emulator::Severity from, const Known& known) {
    for (std::size_t k = 0; k < verdict.findings.size(); ++k)
        if (fails(verdict, k, from, known)) return 1;
    if (verdict.timed_out) return no_verdict;
    return has_other_error(verdict, known) ? 1 : 0;
}

void add_verdict(Json& json, const emulator::Verdict& verdict, const emulator::CheckChoice& checks,
                 const Known& known) {
    json["checks"] = checks.words();
    Json& findings = json["findings"] = programs::findings_json(verdict.findings);
    for (std::size_t k = 0; k < findings.size(); ++k) {
        const Review review = known.of(k);
        findings[k]["standing"] = to_string(review.standing);
        findings[k]["reason"] = review.reason.empty() ? Json(nullptr) : Json(review.reason);
    }
    json["unmatched"] = known.unmatched;
    json["stopped"] = verdict.error.empty() ? Json(nullptr) : Json(verdict.error.english());
    json["timed_out"] = verdict.timed_out;
    json["not_tried"] = verdict.not_tried;
}

std::string verdict_text(const emulator::Verdict& verdict, const emulator::CheckChoice& checks,
                         const Known& known) {
    std::string text = findings_text(verdict.findings, checks.words(), known);
    constexpr std::size_t most_told = 10;
    for (std::size_t k = 0; k < std::min(known.unmatched.size(), most_told); ++k)
        text += fmt::format("{}{}\n", margin, known.unmatched[k]);
    if (known.unmatched.size() > most_told)
        text +=
            fmt::format("{}{} more match nothing\n", margin, known.unmatched.size() - most_told);
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

namespace {

using emulator::Severity;
using emulator::ThreadAtLine;

/// The identifiers of the rules, indexed by FindingKind.
constexpr const char* rules[] = {
    "Two threads, or the work of two streams, access a word of memory, one of them writes, and "
    "nothing orders them.",
    "A thread reads memory that was never written.",
    "Not every thread reaches a barrier.",
    "A thread accesses memory that is not allocated, or an address that is not aligned.",
    "A warp-wide instruction is executed by lanes that its member mask does not name, or waits for "
    "lanes that never come.",
    "A branch, an address or a store to global memory depends on a value that was never set.",
    "CUDA refuses a call of the program.",
    "The program has made an object and never destroyed it.",
    "The program never asked for the error of a launch.",
    "An error or a limit has ended a launch.",
    "What depends on a barrier, a fence or a wait: advice, no error."};

/// RFC 3986: a relative reference, or a file URI for an absolute path.
std::string uri_of(const std::string& path) {
    constexpr std::string_view unreserved =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/";
    std::string uri = std::filesystem::path(path).is_absolute() ? "file://" : "";
    for (const char c : path)
        uri += unreserved.find(c) != unreserved.npos ? std::string(1, c)
                                                     : fmt::format("%{:02X}", std::uint8_t(c));
    return uri;
}

Json text_of(std::string_view text) {
    return {{"text", text}};
}

/// Without a file there is only the kernel's name.
Json location(const std::string& file, int line, const std::string& kernel) {
    const Json function = {{"name", kernel}, {"kind", "function"}};
    Json json = {{"logicalLocations", Json::array({function})}};
    if (!file.empty() && line > 0)
        json["physicalLocation"] = {{"artifactLocation", Json{{"uri", uri_of(file)}}},
                                    {"region", Json{{"startLine", line}}}};
    return json;
}

/// The user's lines that lead to an access: first the one in which it stands, then its callers up
/// to the kernel. Headers of the toolkit are left out: they are not in the user's repository.
std::vector<Json> locations(const ThreadAtLine& at, const std::string& kernel) {
    std::vector<Json> all;
    for (const emulator::HeaderLine& header : at.inlined)
        if (!header.toolkit) all.push_back(location(header.file, header.line, kernel));
    all.push_back(location(at.file, at.line, kernel));
    return all;
}

Json result(const Finding& f, const Review& review, bool has_baseline) {
    Json json = {{"ruleId", to_string(f.kind)},
                 {"ruleIndex", std::size_t(f.kind)},
                 {"level", to_string(f.severity)},
                 {"message", text_of(f.sentence.english())}};
    Json related = Json::array();
    const auto add = [&](Json place, std::string_view message) {
        place["message"] = text_of(message);
        related.push_back(std::move(place));
    };
    const std::vector<Json> lines = locations(f.place(), f.kernel);
    json["locations"] = Json::array({lines.front()});
    for (std::size_t i = 1; i < lines.size(); ++i) add(lines[i], "Called here");
    if (f.second) {
        const auto other = locations(&f.place() == &f.first ? *f.second : f.first, f.kernel);
        add(other.front(), "The other access");
        for (std::size_t i = 1; i < other.size(); ++i)
            add(other[i], "The other access is called here");
    }
    if (!related.empty()) json["relatedLocations"] = std::move(related);
    json["properties"] = {{"kernel", f.kernel}, {"count", f.count}};
    if (has_baseline)
        json["baselineState"] = review.standing == Standing::known ? "unchanged" : "new";
    if (review.standing == Standing::suppressed)
        json["suppressions"] = Json::array({{{"kind", review.in_source ? "inSource" : "external"},
                                             {"justification", review.reason}}});
    return json;
}

}  // namespace

Json sarif(const emulator::Verdict& verdict, bool complete, const Known& known) {
    Json described = Json::array(), results = Json::array();
    for (std::size_t kind = 0; kind < std::size(rules); ++kind)
        described.push_back(
            {{"id", to_string(FindingKind(kind))}, {"shortDescription", text_of(rules[kind])}});
    for (std::size_t k = 0; k < verdict.findings.size(); ++k)
        results.push_back(result(verdict.findings[k], known.of(k), known.has_baseline));
    const Json driver = {{"name", "warpscope"}, {"rules", described}};
    Json invocation = {{"executionSuccessful", complete && verdict.error.empty()}};
    if (!verdict.error.empty())
        invocation["toolExecutionNotifications"] =
            Json::array({{{"level", "error"}, {"message", text_of(verdict.error.english())}}});
    const Json run = {{"tool", {{"driver", driver}}},
                      {"invocations", Json::array({invocation})},
                      {"results", results}};
    return {{"$schema",
             "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/"
             "sarif-schema-2.1.0.json"},
            {"version", "2.1.0"},
            {"runs", Json::array({run})}};
}

namespace {

/// Text for XML 1.0, in which no other control characters may stand than line ends and tabs.
std::string xml(std::string_view text) {
    return experiments::escaped(visible(text));
}

/// What stands in a test case.
std::string case_content(const Finding& f, const Review& review, bool is_failure) {
    if (review.standing != Standing::fresh)
        return fmt::format("<skipped message=\"{}\"/>",
                           xml(review.reason.empty() ? "known" : "suppressed: " + review.reason));
    const char* const element = is_failure ? "failure" : "system-out";
    return fmt::format("<{0}>{1}</{0}>", element, xml(paragraph(f, review)));
}

}  // namespace

std::string junit(const emulator::Verdict& verdict, const emulator::CheckChoice& checks,
                  std::optional<emulator::Severity> from, const Known& known) {
    const std::vector<Finding>& findings = verdict.findings;
    const bool is_error = from && (verdict.timed_out || has_other_error(verdict, known));
    std::size_t failures = 0;
    std::string cases = fmt::format(
        "<testcase classname=\"warpscope\" name=\"{}\">{}</testcase>\n",
        fmt::join(checks.words(), ", "),
        is_error ? fmt::format("<error message=\"{}\"/>", xml(verdict.error.english())) : "");
    for (std::size_t k = 0; k < findings.size(); ++k) {
        const Finding& f = findings[k];
        const Review review = known.of(k);
        const bool is_failure = from && fails(verdict, k, *from, known);
        failures += is_failure;
        cases += fmt::format("<testcase classname=\"{}\" name=\"{}\" file=\"{}\">{}</testcase>\n",
                             xml(f.kernel), xml(review.name), xml(f.place().file),
                             case_content(f, review, is_failure));
    }
    return fmt::format(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n<testsuite name=\"warpscope\" "
        "tests=\"{}\" failures=\"{}\" errors=\"{}\" "
        "skipped=\"{}\">\n{}</testsuite>\n</testsuites>\n",
        findings.size() + 1, failures, int(is_error),
        known.count(Standing::known) + known.count(Standing::suppressed), cases);
}

void check_files(const FindingFiles& files) {
    review({}, {}, files, {});
    for (const auto& [option, file] : {std::pair{"--sarif", &files.sarif},
                                       {"--junit", &files.junit},
                                       {"--write-baseline", &files.write_baseline}})
        if (!file->empty()) check_writable(*file, option);
}

void write_findings(const FindingFiles& files, const emulator::Verdict& verdict,
                    const emulator::CheckChoice& checks, std::optional<emulator::Severity> from,
                    const Known& known, bool complete) {
    if (!files.sarif.empty()) write_file(files.sarif, dump(sarif(verdict, complete, known)));
    if (!files.junit.empty()) write_file(files.junit, junit(verdict, checks, from, known));
    if (!files.write_baseline.empty()) write_file(files.write_baseline, known.baseline);
}

}  // namespace warpscope::jobs
