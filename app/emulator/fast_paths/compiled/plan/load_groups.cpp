#include "emulator/fast_paths/compiled/plan/load_groups.h"

#include <algorithm>

#include "emulator/fast_paths/compiled/moved.h"
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

}  // namespace warpscope::emulator
