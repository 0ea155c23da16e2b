#include "emulator/checks/findings_by_repair.h"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <tuple>

namespace warpscope::emulator {

namespace {

using Interval = Finding::BarrierPlace;

bool is_in_loop(const Interval& i) {
    return i.from >= i.to;
}

/// A barrier stands before line `at`: behind `from` and not behind `to`.
bool repairs(int at, const Interval& i) {
    return i.from < at && at <= i.to;
}

/// Barriers stand between lines. The end of a launch does not keep shared memory, and words order
/// only those who use them: they repair with a race those of its own lines.
bool are_alike(BarrierScope a, BarrierScope b) {
    const auto is_barrier = [](BarrierScope s) { return s <= BarrierScope::grid; };
    return a != BarrierScope::words && (a == b || (is_barrier(a) && is_barrier(b)));
}

/// The indices of the findings that one barrier repairs together with `first`, which ends first.
bool belong_together(const Interval& first, const Interval& other) {
    if (!are_alike(first.scope, other.scope))
        return first.from == other.from && first.to == other.to;
    if (is_in_loop(first) != is_in_loop(other)) return false;
    if (!is_in_loop(first)) return repairs(first.to, other);
    if (first.from == first.to || other.from == other.to)
        return first.from == other.from && first.to == other.to;
    return first.to <= other.from && other.to <= first.from;
}

/// The race of a flag, which stands behind the races of what the flag hands over.
bool is_of_flag(const Finding& f) {
    if (!f.barrier || f.barrier->scope != BarrierScope::words) return false;
    return f.barrier->from == f.first.line || f.barrier->to == f.first.line ||
           f.barrier->from == f.second->line || f.barrier->to == f.second->line;
}

auto plainness(const Finding& f) {
    const bool read_behind_write =
        f.hazard == Hazard::read_after_write && f.order != AccessOrder::reversed;
    const int lines = f.barrier ? std::abs(f.barrier->to - f.barrier->from) : 0;
    const int scope = f.barrier ? int(f.barrier->scope) : 0;
    return std::make_tuple(!f.needs_atomic, -scope, -int(f.severity), is_of_flag(f),
                           !read_behind_write, lines, -std::int64_t(f.count));
}

/// A race of the accesses with which threads change a word: whether it is with one or with both.
bool is_of_update(const Finding& f, const Finding& update) {
    const auto is_place = [&](const ThreadAtLine& at) {
        return at.where() == update.first.where() || at.where() == update.second->where();
    };
    return f.kind == FindingKind::race && f.kernel == update.kernel && is_place(f.first) &&
           is_place(*f.second);
}

/// The place at which a race or an unwritten read reads.
std::string read_line(const Finding& f) {
    if (f.kind == FindingKind::uninitialized) return f.byte ? f.first.where() : "";
    return f.misread() && f.hazard == Hazard::write_after_read ? f.first.where() : "";
}

}  // namespace

std::vector<Finding> by_repair(const std::vector<Finding>& findings) {
    constexpr std::size_t none = std::numeric_limits<std::size_t>::max();
    std::vector<std::size_t> order, group(findings.size(), none);
    for (std::size_t update = 0; update < findings.size(); ++update)
        for (std::size_t k = 0; k < findings.size() && findings[update].needs_atomic; ++k)
            if (group[k] == none && is_of_update(findings[k], findings[update])) group[k] = update;
    for (std::size_t k = 0; k < findings.size(); ++k)
        if (findings[k].barrier && group[k] == none) order.push_back(k);
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        return findings[a].barrier->to < findings[b].barrier->to;
    });
    for (const std::size_t first : order) {
        if (group[first] != none) continue;
        for (const std::size_t other : order)
            if (group[other] == none && findings[first].kernel == findings[other].kernel &&
                findings[first].first.file == findings[other].first.file &&
                belong_together(*findings[first].barrier, *findings[other].barrier))
                group[other] = first;
    }
    for (std::size_t k = 0; k < findings.size(); ++k)
        for (std::size_t race = 0; race < findings.size() && group[k] == none; ++race)
            if (findings[k].kind == FindingKind::uninitialized && group[race] != none &&
                findings[race].kernel == findings[k].kernel && !read_line(findings[k]).empty() &&
                read_line(findings[race]) == read_line(findings[k]))
                group[k] = group[race];
    std::vector<Finding> all;
    std::vector<bool> is_told(findings.size());
    for (std::size_t k = 0; k < findings.size(); ++k) {
        if (is_told[k]) continue;
        if (group[k] == none) {
            all.push_back(findings[k]);
            continue;
        }
        std::vector<std::size_t> members;
        for (std::size_t m = k; m < findings.size(); ++m)
            if (group[m] == group[k]) members.push_back(m);
        for (const std::size_t m : members) is_told[m] = true;
        const auto races_end = std::stable_partition(
            members.begin(), members.end(),
            [&](std::size_t m) { return findings[m].barrier || findings[m].needs_atomic; });
        const auto plainest =
            std::min_element(members.begin(), races_end, [&](std::size_t a, std::size_t b) {
                return plainness(findings[a]) < plainness(findings[b]);
            });
        Finding finding = findings[*plainest];
        members.erase(plainest);
        std::sort(members.begin(), members.end());
        for (const std::size_t m : members) {
            finding.repaired_too.push_back(findings[m]);
            if (findings[m].kind == FindingKind::race) finding.count += findings[m].count;
            finding.severity = std::max(finding.severity, findings[m].severity);
        }
        all.push_back(std::move(finding));
    }
    return merged({all});
}

}  // namespace warpscope::emulator
