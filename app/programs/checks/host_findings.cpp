#include "programs/checks/host_findings.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <utility>

namespace warpscope::programs {

namespace {

using emulator::Finding;
using emulator::FindingKind;
using emulator::Hazard;
using emulator::Severity;

constexpr char mark_begin = '\1', mark_end = '\2';  // a sentence has neither

std::string mark(CallSite site) {
    return fmt::format("{}{}{}", mark_begin, site, mark_end);
}

/// Calls f(site, its mark's place and length) for each mark, the last one first.
template <class F>
void for_marks(const std::string& sentence, F&& f) {
    for (std::size_t at = sentence.rfind(mark_begin); at != sentence.npos;
         at = at ? sentence.rfind(mark_begin, at - 1) : sentence.npos) {
        const std::size_t end = sentence.find(mark_end, at);
        CallSite site = 0;
        std::from_chars(sentence.data() + at + 1, sentence.data() + end, site);
        f(site, at, end + 1 - at);
    }
}

}  // namespace

void HostFindings::on_allocate(std::uint64_t address, std::size_t bytes) {
    allocations_[address] = {bytes, here()};
}

void HostFindings::on_free(std::uint64_t address, CallSite site) {
    const auto found = allocations_.find(address);
    if (found != allocations_.end()) found->second.freed = site;
}

const std::pair<const std::uint64_t, HostFindings::Allocation>* HostFindings::find(
    std::uint64_t address) const {
    const auto above = allocations_.upper_bound(address);
    if (above == allocations_.begin()) return nullptr;
    const auto& found = *std::prev(above);
    return address < found.first + found.second.bytes ? &found : nullptr;
}

bool HostFindings::is_freed(std::uint64_t address) const {
    const auto* const found = find(address);
    return found && found->second.freed;
}

std::string HostFindings::describe(std::uint64_t address) const {
    const auto* const found = find(address);
    if (!found) return {};
    const auto& [begin, allocation] = *found;
    return fmt::format("byte {} of an allocation of {} bytes, allocated at {}{}", address - begin,
                       allocation.bytes, mark(allocation.allocated),
                       allocation.freed ? ", freed at " + mark(*allocation.freed) : "");
}

void HostFindings::report(FindingKind kind, Severity severity, CallSite site,
                          std::string sentence) {
    const auto known = std::ranges::find_if(entries_, [&](const Entry& e) {
        return e.kind == kind && e.severity == severity && e.site == site;
    });
    if (known != entries_.end())
        ++known->count;
    else
        entries_.push_back({kind, severity, site, std::move(sentence)});
}

void HostFindings::report_race(Hazard hazard, CallSite first, CallSite second,
                               std::uint64_t address, std::uint64_t words) {
    const std::string known = describe(address);
    entries_.push_back(
        {FindingKind::race, Severity::error, first,
         fmt::format(
             "The work of {} {} {}, and the work of {} {} it in another stream: no event and "
             "no wait of the host orders them.",
             mark(first), hazard == Hazard::write_after_read ? "reads" : "writes",
             known.empty() ? "a word of memory" : known, mark(second),
             hazard == Hazard::read_after_write ? "reads" : "writes"),
         words, second, hazard});
}

void HostFindings::report_leaks(const std::vector<MadeObject>& left) {
    for (const auto& [address, allocation] : allocations_)
        if (!allocation.freed)
            report(FindingKind::leak, Severity::warning, allocation.allocated,
                   fmt::format("{} bytes were allocated here and never freed.", allocation.bytes));
    for (const MadeObject& made : left)
        report(FindingKind::leak, Severity::warning, made.at,
               fmt::format("This {} was never destroyed.", made.name));
}

void HostFindings::on_launch_error(CallSite site, const std::string& error) {
    if (!unread_) unread_ = {site, error};
}

std::vector<Finding> HostFindings::findings() {
    if (unread_)
        report(FindingKind::unread, Severity::warning, unread_->site,
               fmt::format(
                   "The program never asked for the error of this launch: call cudaGetLastError() "
                   "after it. {}",
                   unread_->text));
    unread_.reset();
    std::set<CallSite> sites;
    for (const Entry& entry : entries_) {
        sites.insert(entry.site);
        sites.insert(entry.other);
        for_marks(entry.sentence, [&](CallSite site, auto...) { sites.insert(site); });
    }
    auto places = sites_.places(sites);
    std::vector<Finding> findings;
    for (const Entry& entry : entries_) {
        const HostPlace& place = places[entry.site];
        const auto known = std::ranges::find_if(findings, [&](const Finding& f) {
            return f.kind == entry.kind && f.severity == entry.severity &&
                   f.hazard == entry.hazard && f.first.where() == place.at.where() &&
                   (!f.second || f.second->where() == places[entry.other].at.where());
        });
        if (known != findings.end()) {
            known->count += entry.count;
            continue;
        }
        Finding finding{.kind = entry.kind,
                        .severity = entry.severity,
                        .hazard = entry.hazard,
                        .kernel = place.function,
                        .by_host = true,
                        .first = place.at,
                        .count = entry.count,
                        .sentence = entry.sentence};
        if (entry.kind == FindingKind::race) finding.second = places[entry.other].at;
        for_marks(entry.sentence, [&](CallSite site, std::size_t at, std::size_t length) {
            finding.sentence.replace(at, length, places[site].at.where());
        });
        findings.push_back(std::move(finding));
    }
    return findings;
}

}  // namespace warpscope::programs
