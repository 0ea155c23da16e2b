#include <set>

#include "emulator/fast_paths/compiled/plan/units.h"

namespace warpscope::emulator {

namespace {

std::vector<bool> in_loops(const Units& units) {
    std::vector<bool> found(units.size());
    for (std::uint32_t last = 0; last < units.size(); ++last) {
        if (units[last].kind != Unit::Kind::branches) continue;
        for (std::uint32_t u = units.target_of(units[last]); u <= last; ++u) found[u] = true;
    }
    return found;
}

// Finds the predicates that may differ between the lanes of a warp: the results of comparisons of
// values that are not uniform, and of logic on such results.
std::set<std::uint32_t> predicates_that_differ(const Units& units) {
    std::set<std::uint32_t> found;
    for (std::size_t before = ~0ull; before != found.size();) {
        before = found.size();
        for (const Unit& unit : units) {
            const Instruction& i = *unit.instruction;
            if (unit.kind != Unit::Kind::computes || operand_type(i, 0) != Type::pred) continue;
            bool differs = false;
            for (unsigned k = 1; k <= source_count(i); ++k)
                differs |= i.type == Type::pred ? found.contains(i.operands[k])
                                                : !is_uniform(i.operands[k]);
            if (differs) found.insert(i.operands[0]);
        }
    }
    return found;
}

}  // namespace

std::vector<bool> find_separated_loops(const Units& units) {
    const std::set<std::uint32_t> differing = predicates_that_differ(units);
    const auto separates = [&](std::uint32_t u) {
        const Instruction& i = *units[u].instruction;
        return units[u].kind == Unit::Kind::branches && i.role != Role::branch &&
               differing.contains(i.operands[0]) && !units.skips_arithmetic(u);
    };
    const std::vector<bool> in_loop = in_loops(units);
    std::vector<bool> found(units.size());
    for (std::uint32_t branch = 0; branch < units.size(); ++branch) {
        if (!in_loop[branch] || !separates(branch)) continue;
        const std::uint32_t join = units.join_of(units[branch]);
        std::vector<std::uint32_t> reached = units.successors(branch);
        std::vector<bool> seen(units.size());
        while (!reached.empty()) {
            const std::uint32_t u = reached.back();
            reached.pop_back();
            if (u == join || seen[u] || !in_loop[u]) continue;
            seen[u] = found[u] = true;
            const std::vector<std::uint32_t> next = units.successors(u);
            reached.insert(reached.end(), next.begin(), next.end());
        }
    }
    return found;
}

}  // namespace warpscope::emulator
