#include "emulator/compiled/plan.h"

#include <algorithm>
#include <cstdlib>

#include "emulator/ptx/opcodes.h"

namespace warpscope::emulator {

namespace {

SlotVariable::Kind kind_of(Type type) {
    if (type == Type::pred) return SlotVariable::Kind::predicate;
    return bits_of(type) == 64 ? SlotVariable::Kind::double_word : SlotVariable::Kind::word;
}

bool passes(const Instruction& i) {
    return i.role == Role::join || i.operation == Operation::end_of_block ||
           opcode_of(i.operation).kind == OpcodeKind::hints;
}

}  // namespace

bool is_compiled_access(const Instruction& i, MemoryAccess access) {
    const AccessForm form(i.target);
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

bool is_compiled_shuffle(const Instruction& i, const Plan& plan) {
    const std::uint64_t* const members = plan.constant(i.operands[5]);
    return members && std::uint32_t(*members) == all_lanes && i.operands[0] &&
           !is_uniform(i.operands[0]) && !is_uniform(i.operands[2]) &&
           plan.constant(i.operands[3]) && plan.constant(i.operands[4]);
}

Plan::Plan(const Kernel& kernel, Instruction::Mode mode) : kernel_(kernel), mode_(mode) {
    for (const auto& [slot, value] : kernel.constants) constants_[slot | uniform_operand] = value;
    divide();
    if (mode == Instruction::masked) {
        const std::vector<bool> separated = in_separated_loops();
        for (std::size_t u = 0; u < units_.size(); ++u)
            if (!separated[u]) units_[u].kind = Unit::Kind::leaves;
    }
    find_variables();
    find_leaders();
    find_uses();
    find_live();
    find_written();
    find_tight_loops();
    choose_places();
    find_load_groups();
}

const std::uint64_t* Plan::constant(std::uint32_t operand) const {
    const auto found = constants_.find(operand);
    return found == constants_.end() ? nullptr : &found->second;
}

void Plan::divide() {
    const std::vector<Instruction>& code = kernel_.code;
    unit_of_.resize(code.size());
    for (std::uint32_t k = 0; k < code.size();) {
        Unit unit;
        unit.begin = k;
        bool has_float_mode = false;
        for (; is_prefix(code[k].role); ++k) {
            if (is_guard(code[k].role)) unit.guard = &code[k];
            has_float_mode |= code[k].role == Role::float_mode;
        }
        unit.instruction = &code[k];
        unit.end = ++k;
        if (!has_float_mode) unit.kind = kind_of(unit);
        if (unit.kind == Unit::Kind::computes) unit.make = find_arithmetic(*unit.instruction);
        for (std::uint32_t c = unit.begin; c < unit.end; ++c)
            unit_of_[c] = std::uint32_t(units_.size());
        units_.push_back(unit);
    }
    // Control flow never runs off the end: the last unit goes to the interpreter, which knows.
    Unit& last = units_.back();
    if (last.instruction->role != Role::branch) last.kind = Unit::Kind::leaves;
}

// Each lane arrives at a barrier whose number is known.
bool Plan::is_compiled_barrier(const Unit& unit) const {
    const Instruction& i = *unit.instruction;
    if (i.role != Role::block_barrier || unit.guard || mode_ == Instruction::masked) return false;
    const std::uint64_t* const barrier = constant(i.operands[0]);
    return barrier && *barrier < barriers_per_block;
}

Unit::Kind Plan::kind_of(const Unit& unit) const {
    const Instruction& i = *unit.instruction;
    if (is_branch(i.role)) return Unit::Kind::branches;
    if (is_compiled_barrier(unit)) return Unit::Kind::waits;
    if (i.role != Role::operation && i.role != Role::join) return Unit::Kind::leaves;
    // Where some lanes arrive, others may wait, or may not give their values.
    const bool concerns_others = i.role == Role::join || i.operation == Operation::shfl;
    if (mode_ == Instruction::masked && concerns_others) return Unit::Kind::leaves;
    if (passes(i)) return unit.guard ? Unit::Kind::leaves : Unit::Kind::passes;
    const InstructionInfo& info = kernel_.lines[kernel_.index_of(&i)];
    if (info.access != MemoryAccess::none) {
        if (!is_compiled_access(i, info.access)) return Unit::Kind::leaves;
        return info.access == MemoryAccess::load ? Unit::Kind::loads : Unit::Kind::stores;
    }
    if (i.operation == Operation::shfl)
        return !unit.guard && is_compiled_shuffle(i, *this) ? Unit::Kind::shuffles
                                                            : Unit::Kind::leaves;
    return find_arithmetic(i) ? Unit::Kind::computes : Unit::Kind::leaves;
}

std::uint32_t Plan::target_of(const Unit& branch) const {
    const std::uint32_t index = kernel_.index_of(branch.instruction);
    return unit_of_[index + branch.instruction->target];
}

// A comparison of uniform values is left out: a uniform predicate has one value for the whole warp,
// so that the lanes that skip it must not keep theirs.
bool Plan::skips_arithmetic(std::uint32_t branch) const {
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

std::vector<bool> Plan::in_loops() const {
    std::vector<bool> found(units_.size());
    for (std::uint32_t last = 0; last < units_.size(); ++last) {
        if (units_[last].kind != Unit::Kind::branches) continue;
        for (std::uint32_t u = target_of(units_[last]); u <= last; ++u) found[u] = true;
    }
    return found;
}

std::vector<bool> Plan::in_separated_loops() const {
    const std::set<std::uint32_t> differing = predicates_that_differ();
    const auto separates = [&](std::uint32_t u) {
        const Instruction& i = *units_[u].instruction;
        return units_[u].kind == Unit::Kind::branches && i.role != Role::branch &&
               differing.contains(i.operands[0]) && !skips_arithmetic(u);
    };
    const std::vector<bool> in_loop = in_loops();
    std::vector<bool> found(units_.size());
    for (std::uint32_t branch = 0; branch < units_.size(); ++branch) {
        if (!in_loop[branch] || !separates(branch)) continue;
        const Instruction& i = *units_[branch].instruction;
        const std::uint32_t join =
            i.operands[1] ? unit_of_[kernel_.index_of(&i) + i.operands[1]] : ~0u;
        std::vector<std::uint32_t> reached = successors(branch);
        std::vector<bool> seen(units_.size());
        while (!reached.empty()) {
            const std::uint32_t u = reached.back();
            reached.pop_back();
            if (u == join || seen[u] || !in_loop[u]) continue;
            seen[u] = found[u] = true;
            const std::vector<std::uint32_t> next = successors(u);
            reached.insert(reached.end(), next.begin(), next.end());
        }
    }
    return found;
}

// Predicates that lanes of a warp may have different values of: comparisons of values that are not
// uniform, and logic on their results.
std::set<std::uint32_t> Plan::predicates_that_differ() const {
    std::set<std::uint32_t> found;
    for (std::size_t before = ~0ull; before != found.size();) {
        before = found.size();
        for (const Unit& unit : units_) {
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

// Calls visit(operand, kind, is written) for each slot that a compiled unit uses. Sources first.
void Plan::each_operand(
    const Unit& unit,
    const std::function<void(std::uint32_t, SlotVariable::Kind, bool)>& visit) const {
    const Instruction& i = *unit.instruction;
    if (unit.guard) visit(unit.guard->operands[0], SlotVariable::Kind::predicate, false);
    switch (unit.kind) {
        case Unit::Kind::computes:
            for (unsigned k = 1; k <= source_count(i); ++k)
                visit(i.operands[k], warpscope::emulator::kind_of(operand_type(i, k)), false);
            visit(i.operands[0], warpscope::emulator::kind_of(operand_type(i, 0)), true);
            break;
        case Unit::Kind::loads:
        case Unit::Kind::stores: {
            const AccessForm form(i.target);
            const bool is_load = unit.kind == Unit::Kind::loads;
            const auto data =
                form.wide_register ? SlotVariable::Kind::double_word : SlotVariable::Kind::word;
            visit(i.operands[i.detail],
                  form.wide_address ? SlotVariable::Kind::double_word : SlotVariable::Kind::word,
                  false);
            for (unsigned e = 0; e < form.elements; ++e)
                visit(i.operands[is_load ? e : 1 + e], data, is_load);
            break;
        }
        case Unit::Kind::shuffles:
            visit(i.operands[2], SlotVariable::Kind::word, false);
            visit(i.operands[0], SlotVariable::Kind::word, true);
            if (i.operands[1]) visit(i.operands[1], SlotVariable::Kind::predicate, true);
            break;
        case Unit::Kind::branches:
            if (i.role != Role::branch) visit(i.operands[0], SlotVariable::Kind::predicate, false);
            break;
        case Unit::Kind::passes:
        case Unit::Kind::waits:
        case Unit::Kind::leaves:
            break;
    }
}

void Plan::note(std::uint32_t operand, SlotVariable::Kind kind, bool written) {
    if (constant(operand)) return;
    SlotVariable& variable =
        variables_.try_emplace(operand, SlotVariable{kind, false}).first->second;
    variable.kind = std::max(variable.kind, kind);
    variable.written |= written;
}

void Plan::find_variables() {
    for (const Unit& unit : units_)
        each_operand(unit, [&](std::uint32_t operand, SlotVariable::Kind kind, bool written) {
            note(operand, kind, written);
        });
    for (auto& [operand, variable] : variables_) {
        variable.number = std::uint32_t(operands_.size());
        operands_.push_back(operand);
    }
}

std::vector<std::uint32_t> Plan::successors(std::uint32_t u) const {
    const Unit& unit = units_[u];
    std::vector<std::uint32_t> next;
    if (is_branch(unit.instruction->role)) next.push_back(target_of(unit));
    const bool falls_through = unit.instruction->role != Role::branch &&
                               !(unit.instruction->role == Role::exit && !unit.guard);
    if (falls_through && u + 1 < units_.size()) next.push_back(u + 1);
    return next;
}

// The interpreter may enter compiled code wherever a turn may end, that is, behind each checkpoint,
// and behind everything that it has run itself.
void Plan::find_leaders() {
    is_entry_.assign(units_.size(), false);
    is_leader_.assign(units_.size(), false);
    is_entry_[0] = true;
    for (std::uint32_t u = 0; u < units_.size(); ++u) {
        const Unit& unit = units_[u];
        if (unit.kind == Unit::Kind::branches) is_entry_[target_of(unit)] = true;
        const bool is_checkpoint = unit.ends_compiled_code() || unit.instruction->cost > 0 ||
                                   unit.instruction->role == Role::join;
        if (is_checkpoint && u + 1 < units_.size()) is_entry_[u + 1] = true;
    }
    for (std::uint32_t u = 0; u < units_.size(); ++u) {
        is_leader_[u] = is_entry_[u];
        if (units_[u].ends_compiled_code()) is_entry_[u] = false;
    }
}

// What the interpreter runs reads its operands in the register file.
void Plan::find_uses() {
    reads_.assign(units_.size(), NumberSet(operands_.size()));
    writes_ = reads_;
    for (std::uint32_t u = 0; u < units_.size(); ++u) {
        const Unit& unit = units_[u];
        each_operand(unit, [&](std::uint32_t operand, SlotVariable::Kind, bool written) {
            if (constant(operand)) return;
            if (written) writes_[u].insert(number_of(operand));
            if (!written || unit.guard) reads_[u].insert(number_of(operand));
        });
        if (!unit.ends_compiled_code()) continue;
        for (const Instruction* i = &kernel_.code[unit.begin]; i <= unit.instruction; ++i)
            for (const std::uint32_t operand : i->operands)
                if (variables_.contains(operand)) reads_[u].insert(number_of(operand));
    }
}

void Plan::find_live() {
    live_.assign(units_.size(), NumberSet(operands_.size()));
    for (bool changed = true; changed;) {
        changed = false;
        for (std::uint32_t u = std::uint32_t(units_.size()); u-- > 0;) {
            NumberSet live(operands_.size());
            for (const std::uint32_t next : successors(u)) live |= live_[next];
            live -= writes_[u];
            live |= reads_[u];
            if (live == live_[u]) continue;
            live_[u] = std::move(live);
            changed = true;
        }
    }
}

void Plan::find_written() {
    written_.assign(units_.size(), NumberSet(operands_.size()));
    for (bool changed = true; changed;) {
        changed = false;
        for (std::uint32_t u = 0; u < units_.size(); ++u) {
            if (units_[u].ends_compiled_code()) continue;
            const NumberSet written = written_[u] | writes_[u];
            for (const std::uint32_t next : successors(u)) {
                NumberSet all = written_[next] | written;
                changed |= all != written_[next];
                written_[next] = std::move(all);
            }
        }
    }
}

Plan::Slots Plan::slots_of(const NumberSet& set) const {
    Slots found;
    set.each([&](std::uint32_t number) { found.push_back(operands_[number]); });
    return found;
}

}  // namespace warpscope::emulator
