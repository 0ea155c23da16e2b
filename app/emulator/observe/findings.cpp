#include "emulator/observe/findings.h"

#include <fmt/format.h>

#include <algorithm>
#include <ranges>
#include <tuple>

namespace warpscope::emulator {

namespace {

/// Returns the rank of a finding; 0 is the most harmful.
int harm_rank(const Finding& f) {
    switch (f.kind) {
        case FindingKind::race:
            if (f.misread()) return 0;
            return f.hazard == Hazard::write_after_read && f.order == AccessOrder::unknown ? 2 : 3;
        case FindingKind::uninitialized:
        case FindingKind::undefined:
            return 1;
        case FindingKind::barrier:
        case FindingKind::members:
            return 4;
        case FindingKind::memory:
        case FindingKind::call:
        case FindingKind::leak:
        case FindingKind::unread:
        case FindingKind::failure:
        case FindingKind::needed:
            break;
    }
    return 5;
}

/// Returns the user's lines, from that of the kernel to the one in which the code stands.
std::vector<std::string> users_calls(const ThreadAtLine& at) {
    std::vector<std::string> lines{at.own_line()};
    for (const HeaderLine& header : at.inlined | std::views::reverse)
        if (!header.toolkit) lines.push_back(fmt::format("{}:{}", header.file, header.line));
    return lines;
}

}  // namespace

std::string ThreadAtLine::own_line() const {
    if (file.empty()) return fmt::format("PTX line {}", line);
    return line ? fmt::format("{}:{}", file, line) : file;
}

std::string ThreadAtLine::where() const {
    return users_place(own_line(), inlined);
}

std::string ThreadAtLine::where_in_full() const {
    return full_place(own_line(), inlined);
}

std::pair<std::string, std::string> lines_between(const ThreadAtLine& a, const ThreadAtLine& b) {
    const std::vector<std::string> from = users_calls(a), to = users_calls(b);
    const auto [x, y] = std::ranges::mismatch(from, to);
    if (x == from.end() || y == to.end()) return {a.where(), b.where()};
    return {*x, *y};
}

std::string_view to_string(FindingKind kind) {
    static constexpr files::Form<0> names[] = {"race",    "uninitialized", "barrier", "memory",
                                               "members", "undefined",     "call",    "leak",
                                               "unread",  "failure",       "needed"};
    return names[std::size_t(kind)].words;
}

files::Sentence words_of_repair(const Finding& f) {
    if (f.needs_atomic) return files::sentence("The atomic operation also repairs:");
    if (f.barrier && f.barrier->scope == BarrierScope::launch)
        return files::sentence("The second launch also repairs:");
    if (f.barrier && f.barrier->scope == BarrierScope::words)
        return files::sentence("The release and acquire also repair:");
    return files::sentence("This barrier also repairs:");
}

std::string_view counted_noun(FindingKind kind) {
    static constexpr files::Form<1> counts[] = {
        "{} hazard", "{} access", "{} missing arrival", "{} access", "{} thread", "{} access",
        "{} call",   "{} object", "{} launch",          "{} launch", "{} word"};
    return counts[std::size_t(kind)].words.substr(3);
}

std::string_view to_string(Severity severity) {
    static constexpr std::string_view names[] = {"note", "warning", "error"};
    return names[std::size_t(severity)];
}

std::string_view to_string(Hazard hazard) {
    static constexpr std::string_view names[] = {"", "RAW", "WAR", "WAW"};
    return names[std::size_t(hazard)];
}

std::size_t count_of(const std::vector<Finding>& findings, Severity severity) {
    return std::size_t(std::count_if(findings.begin(), findings.end(),
                                     [&](const Finding& f) { return f.severity == severity; }));
}

std::vector<Finding> merged(const std::vector<std::vector<Finding>>& lists) {
    std::vector<Finding> all;
    for (const auto& list : lists) all.insert(all.end(), list.begin(), list.end());
    std::stable_sort(all.begin(), all.end(), [](const Finding& a, const Finding& b) {
        return std::make_tuple(b.severity, harm_rank(a)) <
               std::make_tuple(a.severity, harm_rank(b));
    });
    return all;
}

}  // namespace warpscope::emulator
