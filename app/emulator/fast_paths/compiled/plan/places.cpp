#include "emulator/fast_paths/compiled/plan/places.h"

#include <algorithm>

namespace warpscope::emulator {

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

// A variable that lies in its slot need not be stored wherever compiled code ends, nor be loaded
// wherever it begins, so there is less code. A tight loop that only reads it has an operand in
// memory then, and one that writes it stores and loads it in each iteration.
//
// A variable that is live at a few entries only is faster outside of its slot. If a loop writes it,
// it may be live at some more entries, since it would be loaded before the loop and stored behind
// it. If the loop itself has several entries for each time that it writes the variable, LLVM would
// not keep it in a register either. A loop that passes it on to the next iteration may have more
// entries, since that iteration would wait for the slot.
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

}  // namespace warpscope::emulator
