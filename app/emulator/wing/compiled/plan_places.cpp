#include "emulator/wing/compiled/plan.h"

// Where registers lie: in variables or in their slots.
namespace warpscope::emulator {

void Plan::find_tight_loops() {
    loops_.assign(units_.size(), 0);
    written_in_loops_.assign(1, NumberSet(operands_.size()));
    std::uint32_t begin = 0;  // behind the last loop's end, or behind what ends compiled code
    for (std::uint32_t u = 0; u < units_.size(); ++u) {
        if (units_[u].ends_compiled_code()) begin = u + 1;
        if (units_[u].kind != Unit::Kind::branches) continue;
        const std::uint32_t target = target_of(units_[u]);
        if (target > u) continue;
        if (target >= begin) {
            const auto number = std::uint32_t(written_in_loops_.size());
            std::fill(loops_.begin() + target, loops_.begin() + u + 1, number);
            NumberSet& found = written_in_loops_.emplace_back(operands_.size());
            for (std::uint32_t k = target; k <= u; ++k) found |= writes_[k];
        }
        begin = u + 1;
    }
}

// What lies in its slot need not be stored wherever compiled code ends, nor be loaded wherever it
// begins: less code. What a tight loop only reads is an operand in memory then, and what it writes
// it stores and loads in each iteration. A variable that is live at a few entries only is faster;
// at some more if a loop writes it, since it would be loaded before the loop and stored behind it.
// Where the loop itself has several entries for each time that it writes the variable, LLVM would
// not keep it in a register either. What an iteration passes on to the next one waits for its slot,
// and may have more entries.
void Plan::choose_places() {
    constexpr unsigned few = 3, few_if_written_in_loops = 7, few_for_each_write = 2,
                       few_if_passed_on = 7;
    struct Uses {
        unsigned entries = 0, entries_in_loops = 0, writes_in_loops = 0;
        bool passed_on = false;
    };
    std::vector<Uses> uses(operands_.size());  // by variable; entries: where it is live
    for (std::uint32_t u = 0; u < units_.size(); ++u) {
        const std::uint32_t loop = loops_[u];
        if (loop != 0) writes_[u].each([&](std::uint32_t v) { ++uses[v].writes_in_loops; });
        if (is_entry_[u])
            live_[u].each([&](std::uint32_t v) {
                ++(loop != 0 ? uses[v].entries_in_loops : uses[v].entries);
            });
        if (loop != 0 && (u == 0 || loops_[u - 1] != loop))
            (live_[u] & written_in_loops_[loop]).each([&](std::uint32_t v) {
                uses[v].passed_on = true;
            });
    }
    for (auto& [operand, variable] : variables_) {
        const auto [outside, within, writes, passed_on] = uses[variable.number];
        const unsigned most = passed_on ? few_if_passed_on : few_for_each_write;
        if (writes == 0 ? outside + within > few : within > most * writes)
            variable.place = SlotVariable::Place::slot;
        else if (writes > 0 && outside > few_if_written_in_loops)
            variable.place = SlotVariable::Place::slot_outside_loops;
    }
}

// Those of the variables that lie there.
NumberSet Plan::placed(const NumberSet& set, SlotVariable::Place place) const {
    NumberSet found(operands_.size());
    set.each([&](std::uint32_t number) {
        if (variables_.at(operands_[number]).place == place) found.insert(number);
    });
    return found;
}

Plan::Slots Plan::live_in_loop(std::uint32_t unit) const {
    if (loops_[unit] == 0) return {};
    return slots_of(placed(live_[unit], SlotVariable::Place::slot_outside_loops));
}

// What a tight loop writes and what lies in slots outside of it.
NumberSet Plan::leaves_loop(std::uint32_t loop, std::uint32_t next) const {
    return placed(live_[next] & written_in_loops_[loop], SlotVariable::Place::slot_outside_loops);
}

Plan::Slots Plan::written_in_loop(std::uint32_t loop, std::uint32_t next) const {
    return slots_of(leaves_loop(loop, next));
}

Plan::Slots Plan::unsaved(std::uint32_t loop, std::uint32_t next) const {
    return slots_of(placed(live_[next] & written_[next], SlotVariable::Place::variable) |
                    leaves_loop(loop, next));
}

}  // namespace warpscope::emulator
