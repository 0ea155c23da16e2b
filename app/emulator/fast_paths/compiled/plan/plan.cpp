#include "emulator/fast_paths/compiled/plan/plan.h"

#include <algorithm>

#include "emulator/fast_paths/compiled/plan/units.h"
#include "emulator/fast_paths/compiled/plan/variables.h"

namespace warpscope::emulator {
namespace {

bool may_be_grouped(const Units& units, const Unit& unit) {
    if (unit.kind != Unit::Kind::loads || unit.guard) return false;
    const Instruction& i = *unit.instruction;
    const bool has_check = is_uniform(i.operands[i.detail]) || units.mode() == Instruction::full;
    return has_check && accesses_shared(i);
}

}  // namespace

// Code that executes the first load of a group executes all of them: there is no branch between
// them, nor the target of one. Nothing writes their address.
LoadGroups::LoadGroups(const Units& units) : is_grouped_(units.size()) {
    std::vector<bool> is_target(units.size());
    for (const Unit& unit : units)
        if (unit.kind == Unit::Kind::branches) is_target[units.target_of(unit)] = true;
    bool grows = false;
    for (std::uint32_t u = 0; u < units.size(); ++u) {
        const Unit& unit = units[u];
        if (is_target[u] || unit.kind == Unit::Kind::branches || unit.ends_compiled_code())
            grows = false;
        is_grouped_[u] = may_be_grouped(units, unit);
        if (is_grouped_[u]) {
            const Instruction& i = *unit.instruction;
            const LoadGroup alone = {u, u, &i, Moved(i).total(), i.immediate, i.immediate};
            grows = grows && groups_.back().address() == alone.address() &&
                    groups_.back().bytes == alone.bytes;
            if (!grows) groups_.push_back(alone);
            LoadGroup& group = groups_.back();
            group.last = u;
            group.low = std::min(group.low, i.immediate);
            group.high = std::max(group.high, i.immediate);
            grows = true;
        }
        each_operand(unit, [&](std::uint32_t operand, SlotVariable::Kind, bool written) {
            if (written && grows && operand == groups_.back().address()) grows = false;
        });
    }
}

const LoadGroup* LoadGroups::of(std::uint32_t unit) const {
    return is_grouped_[unit] ? next_end(unit) : nullptr;
}

const LoadGroup* LoadGroups::around(std::uint32_t unit) const {
    const LoadGroup* const group = next_end(unit);
    return group && group->first < unit ? group : nullptr;
}

// The first group that ends at the unit or behind it.
const LoadGroup* LoadGroups::next_end(std::uint32_t unit) const {
    const auto found = std::ranges::lower_bound(groups_, unit, {}, &LoadGroup::last);
    return found == groups_.end() ? nullptr : &*found;
}

TightLoops::TightLoops(const Units& units, const Variables& variables, const Liveness& liveness)
    : around(units.size()), written(1, variables.none()) {
    std::uint32_t begin = 0;  // behind the last loop's end, or behind what ends compiled code
    for (std::uint32_t u = 0; u < units.size(); ++u) {
        if (units[u].ends_compiled_code()) begin = u + 1;
        if (units[u].kind != Unit::Kind::branches) continue;
        const std::uint32_t target = units.target_of(units[u]);
        if (target > u) continue;
        if (target >= begin) {
            const auto number = std::uint32_t(written.size());
            std::fill(around.begin() + target, around.begin() + u + 1, number);
            NumberSet& found = written.emplace_back(liveness.writes[u]);
            for (std::uint32_t k = target; k < u; ++k) found |= liveness.writes[k];
        }
        begin = u + 1;
    }
}

namespace {

// A variable that lies in its slot need not be stored wherever compiled code ends, nor be loaded
// wherever it begins, so there is less code. A tight loop that only reads it has an operand in
// memory then, and one that writes it stores and loads it in each iteration.
//
// A variable that is live at a few entries only is faster outside of its slot. If a loop writes it,
// it may be live at some more entries, since it would be loaded before the loop and stored behind
// it. If the loop itself has several entries for each time that it writes the variable, LLVM would
// not keep it in a register either. A loop that passes it on to the next iteration may have more
// entries, since that iteration would wait for the slot.
/// Chooses where each variable lies.
void choose_places(const Units& units, const Liveness& liveness, const TightLoops& loops,
                   Variables& variables) {
    constexpr unsigned few = 3, few_if_written_in_loops = 7, few_for_each_write = 2,
                       few_if_passed_on = 7;
    struct Uses {
        unsigned entries = 0, entries_in_loops = 0, writes_in_loops = 0;
        bool passed_on = false;
    };
    std::vector<Uses> uses(variables.size());  // by number; entries: at which it is live
    for (std::uint32_t u = 0; u < units.size(); ++u) {
        const std::uint32_t loop = loops.around[u];
        if (loop != 0) liveness.writes[u].each([&](std::uint32_t v) { ++uses[v].writes_in_loops; });
        if (units[u].is_entry)
            liveness.live[u].each([&](std::uint32_t v) {
                ++(loop != 0 ? uses[v].entries_in_loops : uses[v].entries);
            });
        if (loop != 0 && (u == 0 || loops.around[u - 1] != loop))
            (liveness.live[u] & loops.written[loop]).each([&](std::uint32_t v) {
                uses[v].passed_on = true;
            });
    }
    for (std::uint32_t v = 0; v < variables.size(); ++v) {
        const auto [outside, within, writes, passed_on] = uses[v];
        const unsigned most = passed_on ? few_if_passed_on : few_for_each_write;
        if (writes == 0 ? outside + within > few : within > most * writes)
            variables.set_place(v, SlotVariable::Place::slot);
        else if (writes > 0 && outside > few_if_written_in_loops)
            variables.set_place(v, SlotVariable::Place::slot_outside_loops);
    }
}

}  // namespace

CompilationPlan::CompilationPlan(const Kernel& kernel, Instruction::Mode mode, bool is_watched)
    : units_(kernel, mode, is_watched),
      variables_(units_),
      liveness_(units_, variables_),
      loops_(units_, variables_, liveness_),
      load_groups_(units_) {
    choose_places(units_, liveness_, loops_, variables_);
}

Operands CompilationPlan::live_in_loop(std::uint32_t unit) const {
    if (loop(unit) == 0) return {};
    return variables_.operands_of(
        variables_.placed(liveness_.live[unit], SlotVariable::Place::slot_outside_loops));
}

NumberSet CompilationPlan::leaves_loop(std::uint32_t loop, std::uint32_t next) const {
    return variables_.placed(liveness_.live[next] & loops_.written[loop],
                             SlotVariable::Place::slot_outside_loops);
}

Operands CompilationPlan::written_in_loop(std::uint32_t loop, std::uint32_t next) const {
    return variables_.operands_of(leaves_loop(loop, next));
}

Operands CompilationPlan::unsaved(std::uint32_t loop, std::uint32_t next) const {
    const NumberSet written = liveness_.live[next] & liveness_.written[next];
    return variables_.operands_of(variables_.placed(written, SlotVariable::Place::variable) |
                                  leaves_loop(loop, next));
}

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
