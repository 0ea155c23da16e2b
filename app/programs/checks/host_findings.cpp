#include "programs/checks/host_findings.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

namespace warpscope::programs {

using emulator::FindingKind;
using emulator::Hazard;
using emulator::Severity;

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
    const auto known = std::ranges::find_if(report_.entries, [&](const auto& e) {
        return e.kind == kind && e.severity == severity && e.site == site;
    });
    if (known != report_.entries.end())
        ++known->count;
    else
        add({kind, severity, site, std::move(sentence)});
}

void HostFindings::report_race(Hazard hazard, CallSite first, CallSite second,
                               std::uint64_t address, std::uint64_t words) {
    const auto same = std::ranges::find_if(report_.entries, [&](const auto& e) {
        return e.kind == FindingKind::race && e.hazard == hazard && e.site == first &&
               e.other == second;
    });
    if (same != report_.entries.end()) {
        same->count = words;
        return;
    }
    const std::string known = describe(address);
    add({FindingKind::race, Severity::error, first,
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

void HostFindings::report_unread() {
    if (!unread_) return;
    report(
        FindingKind::unread, Severity::warning, unread_->site,
        fmt::format("The program never asked for the error of this launch: call cudaGetLastError() "
                    "after it. {}",
                    unread_->text));
    unread_.reset();
}

void HostFindings::add(HostReport::Entry entry) {
    std::vector<CallSite> sites = sites_in(entry.sentence);
    sites.insert(sites.end(), {entry.site, entry.other});
    for (const CallSite site : sites) report_.sites.try_emplace(site, sites_.frames_of(site));
    report_.entries.push_back(std::move(entry));
}

}  // namespace warpscope::programs
