#include <algorithm>

#include "emulator/wing/compiled/moved.h"
#include "emulator/wing/compiled/plan.h"

// Loads of shared memory that are checked together.
namespace warpscope::emulator {

bool Plan::may_be_grouped(const Unit& unit) const {
    if (unit.kind != Unit::Kind::loads || unit.guard) return false;
    const Instruction& i = *unit.instruction;
    const bool has_check = is_uniform(i.operands[i.detail]) || mode_ == Instruction::full;
    return has_check && AccessForm(i.target).space == Space::shared;
}

// Code that executes the first load of a group executes all of them: there is no branch between
// them, nor the target of one. Nothing writes their address.
void Plan::find_load_groups() {
    std::vector<bool> is_target(units_.size());
    for (const Unit& unit : units_)
        if (unit.kind == Unit::Kind::branches) is_target[target_of(unit)] = true;
    bool grows = false;
    for (std::uint32_t u = 0; u < units_.size(); ++u) {
        const Unit& unit = units_[u];
        if (is_target[u] || unit.kind == Unit::Kind::branches || unit.ends_compiled_code())
            grows = false;
        if (may_be_grouped(unit)) {
            const Instruction& i = *unit.instruction;
            const LoadGroup alone = {u, u, &i, Moved(i).total(), i.immediate, i.immediate};
            grows = grows && load_groups_.back().address() == alone.address() &&
                    load_groups_.back().bytes == alone.bytes;
            if (!grows) load_groups_.push_back(alone);
            LoadGroup& group = load_groups_.back();
            group.last = u;
            group.low = std::min(group.low, i.immediate);
            group.high = std::max(group.high, i.immediate);
            grows = true;
        }
        each_operand(unit, [&](std::uint32_t operand, SlotVariable::Kind, bool written) {
            if (written && grows && operand == load_groups_.back().address()) grows = false;
        });
    }
}

const LoadGroup* Plan::load_group_of(std::uint32_t unit) const {
    return may_be_grouped(units_[unit]) ? group_that_ends_behind(unit) : nullptr;
}

const LoadGroup* Plan::load_group_around(std::uint32_t unit) const {
    const LoadGroup* const group = group_that_ends_behind(unit);
    return group && group->first < unit ? group : nullptr;
}

// At the unit or behind it.
const LoadGroup* Plan::group_that_ends_behind(std::uint32_t unit) const {
    const auto found = std::ranges::lower_bound(load_groups_, unit, {}, &LoadGroup::last);
    return found == load_groups_.end() ? nullptr : &*found;
}

}  // namespace warpscope::emulator
