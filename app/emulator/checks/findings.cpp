#include "emulator/checks/findings.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

namespace warpscope::emulator {

namespace {

/// 0 is the most harmful.
int harm_rank(const Finding& f) {
    switch (f.kind) {
        case FindingKind::race:
            if (f.misread()) return 0;
            return f.hazard == Hazard::write_after_read && f.order == AccessOrder::unknown ? 2 : 3;
        case FindingKind::uninitialized:
            return 1;
        case FindingKind::barrier:
            return 4;
        case FindingKind::memory:
            break;
    }
    return 5;
}

}  // namespace

std::string ThreadAtLine::where() const {
    return file.empty() ? fmt::format("PTX line {}", line) : fmt::format("{}:{}", file, line);
}

std::string_view to_string(FindingKind kind) {
    static constexpr std::string_view names[] = {"race", "uninitialized", "barrier", "memory"};
    return names[std::size_t(kind)];
}

std::string_view to_string(Severity severity) {
    return severity == Severity::error ? "error" : "warning";
}

std::string_view to_string(Hazard hazard) {
    static constexpr std::string_view names[] = {"", "RAW", "WAR", "WAW"};
    return names[std::size_t(hazard)];
}

bool has_errors(const std::vector<Finding>& findings) {
    return std::any_of(findings.begin(), findings.end(),
                       [](const Finding& f) { return f.severity == Severity::error; });
}

std::vector<Finding> merged(const std::vector<std::vector<Finding>>& lists) {
    std::vector<Finding> all;
    for (const auto& list : lists) all.insert(all.end(), list.begin(), list.end());
    std::stable_sort(all.begin(), all.end(), [](const Finding& a, const Finding& b) {
        return std::make_tuple(a.severity != Severity::error, harm_rank(a)) <
               std::make_tuple(b.severity != Severity::error, harm_rank(b));
    });
    return all;
}

}  // namespace warpscope::emulator
