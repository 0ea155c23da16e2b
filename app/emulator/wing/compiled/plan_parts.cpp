#include <algorithm>

#include "emulator/wing/compiled/plan.h"

// Parts that are compiled at the same time.
namespace warpscope::emulator {

// About how long the unit is compiled, in steps of 20 µs.
unsigned Plan::effort(std::uint32_t u) const {
    const Unit& unit = units_[u];
    unsigned effort = 0;
    if (is_entry_[u]) live_[u].each([&](std::uint32_t) { effort += 4; });
    if (is_leader_[u]) effort += 10;
    switch (unit.kind) {
        case Unit::Kind::computes:
            return effort + (is_uniform(unit.instruction->operands[0]) ? 4 : 10);
        case Unit::Kind::loads:
        case Unit::Kind::stores:
            return effort + 120;
        case Unit::Kind::shuffles:
        case Unit::Kind::branches:
            return effort + 20;
        case Unit::Kind::passes:
        case Unit::Kind::waits:
        case Unit::Kind::leaves:
            return effort + 4;
    }
    return effort;
}

Part Plan::part(std::uint32_t begin, std::uint32_t end) const {
    Part part = {begin, end};
    for (std::uint32_t u = begin; u < end; ++u) part.effort += effort(u);
    return part;
}

// The unit at which the second of two parts begins; part.begin: no cut is worth its function.
// Behind what ends compiled code, the way to the second part costs nothing.
std::uint32_t Plan::best_cut(const Part& part) const {
    std::uint32_t best = part.begin;
    unsigned least = part.effort * 9 / 10, before = 0;
    for (std::uint32_t u = part.begin + 1; u < part.end; ++u) {
        before += effort(u - 1);
        const bool in_loop = loops_[u] != 0 && loops_[u] == loops_[u - 1];
        if (!is_leader_[u] || in_loop) continue;
        const unsigned way = units_[u - 1].ends_compiled_code() ? 0 : part.effort / 10;
        const unsigned longer = std::max(before, part.effort - before) + way;
        if (longer >= least) continue;
        least = longer;
        best = u;
    }
    return best;
}

std::vector<Part> Plan::parts() const {
    constexpr std::size_t most_parts = 6;
    constexpr unsigned long_effort = 2500;
    std::vector<Part> parts = {whole()};
    while (parts.size() < most_parts) {
        const auto longest = std::ranges::max_element(parts, {}, &Part::effort);
        if (longest->effort < long_effort) break;
        const std::uint32_t cut = best_cut(*longest);
        if (cut == longest->begin) break;
        const Part second = part(cut, longest->end);
        *longest = part(longest->begin, cut);
        parts.insert(longest + 1, second);
    }
    return parts;
}

}  // namespace warpscope::emulator
