#include "emulator/compiled/plan.h"

// Where registers lie: in variables or in their slots.
namespace warpscope::emulator {

void Plan::find_tight_loops() {
    loops_.assign(units_.size(), 0);
    written_in_loops_.assign(1, {});
    std::uint32_t begin = 0;  // behind the last loop's end, or behind what ends compiled code
    for (std::uint32_t u = 0; u < units_.size(); ++u) {
        if (units_[u].ends_compiled_code()) begin = u + 1;
        if (units_[u].kind != Unit::Kind::branches) continue;
        const std::uint32_t target = target_of(units_[u]);
        if (target > u) continue;
        if (target >= begin) {
            const auto number = std::uint32_t(written_in_loops_.size());
            std::fill(loops_.begin() + target, loops_.begin() + u + 1, number);
            Slots& found = written_in_loops_.emplace_back();
            for (std::uint32_t k = target; k <= u; ++k)
                each_operand(units_[k], [&](std::uint32_t operand, Variable::Kind, bool writes) {
                    if (writes) found.insert(operand);
                });
        }
        begin = u + 1;
    }
}

// What lies in its slot need not be stored wherever compiled code ends, nor be loaded wherever it
// begins: less code. A tight loop would have to store and to load it in each iteration. A variable
// that is live at a few entries outside of such loops only is faster; at some more if loops use it,
// since it would be loaded before a loop and stored behind it.
void Plan::choose_places() {
    constexpr unsigned few = 3, few_if_in_loops = 7;
    std::map<std::uint32_t, unsigned> entries;  // by operand: where it is live
    Slots used_in_loops;
    for (std::uint32_t u = 0; u < units_.size(); ++u) {
        if (loops_[u] != 0)
            each_operand(units_[u], [&](std::uint32_t operand, Variable::Kind, bool) {
                used_in_loops.insert(operand);
            });
        else if (is_entry_[u])
            for (const std::uint32_t operand : live_[u]) ++entries[operand];
    }
    for (auto& [operand, variable] : variables_) {
        const bool in_loops = used_in_loops.contains(operand);
        if (entries[operand] > (in_loops ? few_if_in_loops : few))
            variable.place = in_loops ? Variable::Place::slot_outside_loops : Variable::Place::slot;
    }
}

Plan::Slots Plan::live_at(std::uint32_t unit, Variable::Place place) const {
    Slots found;
    for (const std::uint32_t operand : live_[unit])
        if (variables_.at(operand).place == place) found.insert(operand);
    return found;
}

Plan::Slots Plan::live_in_loop(std::uint32_t unit) const {
    return loops_[unit] == 0 ? Slots() : live_at(unit, Variable::Place::slot_outside_loops);
}

Plan::Slots Plan::written_in_loop(std::uint32_t loop, std::uint32_t next) const {
    Slots found = live_at(next, Variable::Place::slot_outside_loops);
    std::erase_if(found, [&](std::uint32_t v) { return !written_in_loops_[loop].contains(v); });
    return found;
}

Plan::Slots Plan::unsaved(std::uint32_t loop, std::uint32_t next) const {
    Slots found = live_at(next, Variable::Place::variable);
    std::erase_if(found, [&](std::uint32_t v) { return !written_[next].contains(v); });
    found.merge(written_in_loop(loop, next));
    return found;
}

}  // namespace warpscope::emulator
