#include "emulator/fast_paths/compiled/plan/parts.h"

#include <algorithm>

namespace warpscope::emulator {

namespace {

// Estimates how long LLVM compiles a unit, in steps of 20 µs.
unsigned effort_of(const CompilationPlan& plan, std::uint32_t u) {
    const Unit& unit = plan.units()[u];
    unsigned effort = 0;
    if (unit.is_entry) effort += 4 * unsigned(plan.live(u).size());
    if (unit.is_leader) effort += 10;
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

Part part_of(const CompilationPlan& plan, std::uint32_t begin, std::uint32_t end) {
    Part part = {begin, end};
    for (std::uint32_t u = begin; u < end; ++u) part.effort += effort_of(plan, u);
    return part;
}

// Finds the unit at which the second of two parts begins; part.begin: no cut is worth a function
// more. Where the interpreter runs the unit before, the way to the second part costs nothing.
std::uint32_t best_cut(const CompilationPlan& plan, const Part& part) {
    std::uint32_t best = part.begin;
    unsigned least = part.effort * 9 / 10, before = 0;
    for (std::uint32_t u = part.begin + 1; u < part.end; ++u) {
        before += effort_of(plan, u - 1);
        const bool in_loop = plan.loop(u) != 0 && plan.loop(u) == plan.loop(u - 1);
        if (!plan.units()[u].is_leader || in_loop) continue;
        const unsigned way = plan.units()[u - 1].ends_compiled_code() ? 0 : part.effort / 10;
        const unsigned longer = std::max(before, part.effort - before) + way;
        if (longer >= least) continue;
        least = longer;
        best = u;
    }
    return best;
}

}  // namespace

Part whole(const CompilationPlan& plan) {
    return part_of(plan, 0, std::uint32_t(plan.units().size()));
}

std::vector<Part> divide_into_parts(const CompilationPlan& plan) {
    constexpr std::size_t most_parts = 6;
    constexpr unsigned long_effort = 2500;
    std::vector<Part> parts = {whole(plan)};
    while (parts.size() < most_parts) {
        const auto longest = std::ranges::max_element(parts, {}, &Part::effort);
        if (longest->effort < long_effort) break;
        const std::uint32_t cut = best_cut(plan, *longest);
        if (cut == longest->begin) break;
        const Part second = part_of(plan, cut, longest->end);
        *longest = part_of(plan, longest->begin, cut);
        parts.insert(longest + 1, second);
    }
    return parts;
}

}  // namespace warpscope::emulator
