#include "emulator/fast_paths/compiled/plan/units.h"

#include <algorithm>
#include <cstdlib>
#include <set>

#include "emulator/ptx/opcodes.h"
#include "emulator/warp/warp.h"

namespace warpscope::emulator {
namespace {

bool passes(const Instruction& i) {
    return i.role == Role::join || i.operation == Operation::end_of_block ||
           opcode_of(i.operation).kind == OpcodeKind::hints;
}

bool is_compiled_access(const Instruction& i, MemoryAccess access) {
    if (accesses_image(i.operation)) return false;
    const AccessForm form(i.target);
    if (form.matrices) return false;
    const std::uint64_t bytes = form.bytes * form.elements;
    if (std::uint64_t(i.immediate) & (bytes - 1)) return false;  // never aligned: an error
    if (access != MemoryAccess::load && access != MemoryAccess::store) return false;
    const bool shared = form.space == Space::shared;
    if (!shared && form.space != Space::global && form.space != Space::constant) return false;
    if (!shared && !form.wide_address) return false;
    // A shared address and the immediate operand are added with 32 bits.
    if (!form.wide_address && std::abs(i.immediate) >= 1 << 30) return false;
    const bool is_load = access == MemoryAccess::load;
    if (!is_load && form.bytes == 1 && form.elements == 4)
        return !form.wide_register && !is_uniform(i.operands[i.detail]);
    if (form.bytes != 4 && form.bytes != 8) return false;
    if (form.wide_register != (form.bytes == 8)) return false;
    for (unsigned e = 0; is_load && e < form.elements; ++e)
        if (!i.operands[e]) return false;
    for (unsigned e = 1; is_load && e < form.elements; ++e)
        if (is_uniform(i.operands[e]) != is_uniform(i.operands[0])) return false;
    const bool uniform_address = is_uniform(i.operands[i.detail]);
    if (!is_load) return !uniform_address;
    return uniform_address || !is_uniform(i.operands[0]);
}

}  // namespace

Units::Units(const Kernel& kernel, Instruction::Mode mode, bool is_watched)
    : kernel_(kernel), mode_(mode), is_watched_(is_watched) {
    for (const auto& [slot, value] : kernel.constants) constants_[slot | uniform_operand] = value;
    divide();
    if (mode == Instruction::masked) {
        const std::vector<bool> separated = find_separated_loops(*this);
        for (std::size_t u = 0; u < units_.size(); ++u)
            if (!separated[u]) units_[u].kind = Unit::Kind::leaves;
    }
    find_leaders();
}

const std::uint64_t* Units::constant(std::uint32_t operand) const {
    const auto found = constants_.find(operand);
    return found == constants_.end() ? nullptr : &found->second;
}

void Units::divide() {
    const std::vector<Instruction>& code = kernel_.code;
    unit_of_.resize(code.size());
    for (std::uint32_t k = 0; k < code.size();) {
        Unit unit;
        unit.begin = k;
        bool is_interpreted = false;
        for (; is_prefix(code[k].role); ++k) {
            if (is_guard(code[k].role)) unit.guard = &code[k];
            is_interpreted |= !is_guard(code[k].role);
        }
        unit.instruction = &code[k];
        unit.end = ++k;
        if (!is_interpreted) unit.kind = kind_of(unit);
        if (unit.kind == Unit::Kind::computes) unit.make = find_arithmetic(*unit.instruction);
        for (std::uint32_t c = unit.begin; c < unit.end; ++c)
            unit_of_[c] = std::uint32_t(units_.size());
        units_.push_back(unit);
    }
    // Compiled code must not run off the end of the kernel, so the interpreter runs the last unit.
    Unit& last = units_.back();
    if (last.instruction->role != Role::branch) last.kind = Unit::Kind::leaves;
}

// A barrier is compiled if all lanes arrive and its number is known.
bool Units::is_compiled_barrier(const Unit& unit) const {
    const Instruction& i = *unit.instruction;
    if (i.role != Role::block_barrier || unit.guard || mode_ == Instruction::masked) return false;
    const std::uint64_t* const barrier = constant(i.operands[0]);
    return barrier && *barrier < barriers_per_block;
}

// A shuffle is compiled if all lanes move values by one constant distance. All of them run, so
// their member masks change no value.
bool Units::is_compiled_shuffle(const Instruction& i) const {
    const std::uint64_t* const members = constant(i.operands[5]);
    const bool may_have_faults = !members || std::uint32_t(*members) != all_lanes;
    if (is_watched_ && may_have_faults) return false;
    return i.operands[0] && !is_uniform(i.operands[0]) && !is_uniform(i.operands[2]) &&
           constant(i.operands[3]) && constant(i.operands[4]);
}

Unit::Kind Units::kind_of(const Unit& unit) const {
    const Instruction& i = *unit.instruction;
    if (is_branch(i.role)) return Unit::Kind::branches;
    if (is_compiled_barrier(unit)) return Unit::Kind::waits;
    if (i.role != Role::operation && i.role != Role::join) return Unit::Kind::leaves;
    // If only some lanes arrive, others may wait here, or may not give their values.
    const bool concerns_others = i.role == Role::join || i.operation == Operation::shfl;
    if (mode_ == Instruction::masked && concerns_others) return Unit::Kind::leaves;
    if (passes(i)) return unit.guard ? Unit::Kind::leaves : Unit::Kind::passes;
    const InstructionInfo& info = kernel_.lines[kernel_.index_of(&i)];
    if (info.access != MemoryAccess::none) {
        // A compiled access is a cost point; the second access of a wmma.load is none.
        if (i.cost == 0 || !is_compiled_access(i, info.access)) return Unit::Kind::leaves;
        return info.access == MemoryAccess::load ? Unit::Kind::loads : Unit::Kind::stores;
    }
    if (i.operation == Operation::shfl)
        return !unit.guard && is_compiled_shuffle(i) ? Unit::Kind::shuffles : Unit::Kind::leaves;
    return find_arithmetic(i) ? Unit::Kind::computes : Unit::Kind::leaves;
}

std::uint32_t Units::target_of(const Unit& branch) const {
    const std::uint32_t index = kernel_.index_of(branch.instruction);
    return unit_of_[index + branch.instruction->target];
}

std::vector<std::uint32_t> Units::successors(std::uint32_t u) const {
    const Unit& unit = units_[u];
    std::vector<std::uint32_t> next;
    if (is_branch(unit.instruction->role)) next.push_back(target_of(unit));
    const bool falls_through = unit.instruction->role != Role::branch &&
                               !(unit.instruction->role == Role::exit && !unit.guard);
    if (falls_through && u + 1 < units_.size()) next.push_back(u + 1);
    return next;
}

std::uint32_t Units::join_of(const Unit& branch) const {
    const std::uint32_t distance = branch.instruction->operands[1];
    return distance ? unit_of_[kernel_.index_of(branch.instruction) + distance] : ~0u;
}

// A comparison of uniform values is left out: a uniform predicate has one value for the whole warp,
// so that the lanes that skip it must not keep theirs.
bool Units::skips_arithmetic(std::uint32_t branch) const {
    constexpr std::uint32_t most_units = 12;
    const Instruction& i = *units_[branch].instruction;
    const std::uint32_t target = target_of(units_[branch]);
    if (i.role == Role::branch || i.operands[1] != i.target || target <= branch + 1 ||
        target - branch > most_units || units_[target].instruction->role != Role::join)
        return false;
    return std::all_of(units_.begin() + branch + 1, units_.begin() + target, [](const Unit& unit) {
        if (unit.kind == Unit::Kind::passes)
            return unit.instruction->role != Role::join &&
                   !(unit.instruction->events & Instruction::fences);
        return unit.kind == Unit::Kind::computes && !unit.guard &&
               operand_type(*unit.instruction, 0) != Type::pred;
    });
}

// The interpreter may enter compiled code wherever a turn may end, that is, behind each cost point,
// and behind everything that it has run itself.
void Units::find_leaders() {
    units_[0].is_entry = true;
    for (std::uint32_t u = 0; u < units_.size(); ++u) {
        const Unit& unit = units_[u];
        if (unit.kind == Unit::Kind::branches) units_[target_of(unit)].is_entry = true;
        const bool is_cost_point = unit.ends_compiled_code() || unit.instruction->cost > 0 ||
                                   unit.instruction->role == Role::join;
        if (is_cost_point && u + 1 < units_.size()) units_[u + 1].is_entry = true;
    }
    for (Unit& unit : units_) {
        unit.is_leader = unit.is_entry;
        if (unit.ends_compiled_code()) unit.is_entry = false;
    }
}

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
