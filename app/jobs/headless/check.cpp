#include "jobs/headless/check.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "compute/device/sentences.h"
#include "jobs/output/output.h"
#include "jobs/output/word_list.h"

namespace warpscope::jobs {

namespace {

using emulator::Finding;
using emulator::FindingKind;

constexpr std::string_view margin = "========= ";
constexpr std::size_t text_columns = 86;

Json party_json(const emulator::ThreadAtLine& party, bool by_host) {
    Json inlined = Json::array();
    for (const emulator::HeaderLine& header : party.inlined)
        inlined.push_back(
            {{"file", header.file}, {"line", header.line}, {"toolkit", header.toolkit}});
    return {{"file", party.file.empty() ? Json(nullptr) : Json(party.file)},
            {"line", party.line},
            {"inlined", std::move(inlined)},
            {"thread", by_host ? Json(nullptr) : to_json(party.thread)},
            {"block", by_host ? Json(nullptr) : to_json(party.block)}};
}

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

Json to_json(const std::optional<emulator::WitnessWords>& witness) {
    if (!witness) return nullptr;
    return {{"sentence", witness->sentence},
            {"preemptions", witness->preemptions ? Json(*witness->preemptions) : Json(nullptr)},
            {"turns", witness->turns},
            {"schedule", witness->schedule.empty() ? Json(nullptr) : Json(witness->schedule)}};
}

Json to_json(const std::optional<emulator::Provocation>& provocation) {
    if (!provocation) return nullptr;
    return {{"sentence", provocation->sentence},
            {"launches", provocation->launches},
            {"wrong", provocation->wrong},
            {"wrong_delayed", provocation->wrong_delayed}};
}

Json to_json(const std::vector<Finding>& findings) {
    Json json = Json::array();
    for (const Finding& f : findings) {
        json.push_back(
            {{"kind", to_string(f.kind)},
             {"severity", to_string(f.severity)},
             {"kernel", f.kernel},
             {"hazard", to_string(f.hazard).empty() ? Json(nullptr) : Json(to_string(f.hazard))},
             {"first", party_json(f.first, f.by_host)},
             {"second", f.second ? party_json(*f.second, f.by_host) : Json(nullptr)},
             {"address", f.byte ? Json(*f.byte) : Json(nullptr)},
             {"count", f.count},
             {"repaired_too", to_json(f.repaired_too)},
             {"witness", to_json(f.witness)},
             {"provocation", to_json(f.provocation)},
             {"sentence", f.sentence}});
    }
    return json;
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

std::string findings_text(const std::vector<Finding>& findings, const Checks& checks) {
    std::string text;
    for (const Finding& f : findings) text += paragraph(f);
    const auto count = [&](emulator::Severity severity, std::string_view noun) {
        return compute::plural(count_of(findings, severity), noun);
    };
    std::string counts = count(emulator::Severity::error, "error") + ", " +
                         count(emulator::Severity::warning, "warning");
    if (count_of(findings, emulator::Severity::note) > 0)
        counts += ", " + count(emulator::Severity::note, "note");
    return text + fmt::format("{}CHECK SUMMARY ({}): {} ({})\n", margin,
                              fmt::join(checks.words(), ", "),
                              compute::plural(findings.size(), "finding"), counts);
}

}  // namespace warpscope::jobs
