#include "emulator/fast_paths/compiled/plan/variables.h"

#include <algorithm>

#include "emulator/program/access_form.h"
#include "emulator/ptx/opcodes.h"

namespace warpscope::emulator {
namespace {

SlotVariable::Kind kind_of(Type type) {
    if (type == Type::pred) return SlotVariable::Kind::predicate;
    return bits_of(type) == 64 ? SlotVariable::Kind::double_word : SlotVariable::Kind::word;
}

}  // namespace

void each_operand(const Unit& unit,
                  const std::function<void(std::uint32_t, SlotVariable::Kind, bool)>& visit) {
    const Instruction& i = *unit.instruction;
    if (unit.guard) visit(unit.guard->operands[0], SlotVariable::Kind::predicate, false);
    switch (unit.kind) {
        case Unit::Kind::computes:
            for (unsigned k = 1; k <= source_count(i); ++k)
                visit(i.operands[k], kind_of(operand_type(i, k)), false);
            visit(i.operands[0], kind_of(operand_type(i, 0)), true);
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

Variables::Variables(const Units& units) {
    for (const Unit& unit : units)
        each_operand(unit, [&](std::uint32_t operand, SlotVariable::Kind kind, bool written) {
            if (units.constant(operand)) return;
            SlotVariable& variable =
                by_operand_.try_emplace(operand, SlotVariable{kind, false}).first->second;
            variable.kind = std::max(variable.kind, kind);
            variable.written |= written;
        });
    for (auto& [operand, variable] : by_operand_) {
        variable.number = std::uint32_t(operands_.size());
        operands_.push_back(operand);
    }
}

NumberSet Variables::placed(const NumberSet& set, SlotVariable::Place place) const {
    NumberSet found = none();
    set.each([&](std::uint32_t number) {
        if ((*this)[number].place == place) found.insert(number);
    });
    return found;
}

Operands Variables::operands_of(const NumberSet& set) const {
    Operands found;
    set.each([&](std::uint32_t number) { found.push_back(operands_[number]); });
    return found;
}

namespace {

/// The variables that a unit reads, or may leave as they were.
NumberSet reads_of(const Units& units, const Unit& unit, const Variables& variables) {
    NumberSet reads = variables.none();
    const auto& by_operand = variables.by_operand();
    each_operand(unit, [&](std::uint32_t operand, SlotVariable::Kind, bool written) {
        if (units.constant(operand)) return;
        if (!written || unit.guard) reads.insert(by_operand.at(operand).number);
    });
    if (!unit.ends_compiled_code()) return reads;
    // The interpreter reads the operands in the register file.
    const auto read = [&](std::uint32_t operand) {
        if (const auto found = by_operand.find(operand); found != by_operand.end())
            reads.insert(found->second.number);
    };
    for (const Instruction* i = &units.kernel().code[unit.begin]; i <= unit.instruction; ++i)
        for (const std::uint32_t operand : i->operands) read(operand);
    // All further operands of the kernel count as read, whichever instruction reads them.
    if (has_further_operands(unit.instruction->operation))
        for (const std::uint32_t operand : units.kernel().further_operands) read(operand);
    return reads;
}

NumberSet writes_of(const Units& units, const Unit& unit, const Variables& variables) {
    NumberSet writes = variables.none();
    each_operand(unit, [&](std::uint32_t operand, SlotVariable::Kind, bool written) {
        if (written && !units.constant(operand))
            writes.insert(variables.by_operand().at(operand).number);
    });
    return writes;
}

std::vector<NumberSet> find_live(const Units& units, const Variables& variables,
                                 const std::vector<NumberSet>& writes) {
    std::vector<NumberSet> reads, all(units.size(), variables.none());
    for (const Unit& unit : units) reads.push_back(reads_of(units, unit, variables));
    for (bool changed = true; changed;) {
        changed = false;
        for (std::uint32_t u = std::uint32_t(units.size()); u-- > 0;) {
            NumberSet live = variables.none();
            for (const std::uint32_t next : units.successors(u)) live |= all[next];
            live -= writes[u];
            live |= reads[u];
            if (live == all[u]) continue;
            all[u] = std::move(live);
            changed = true;
        }
    }
    return all;
}

std::vector<NumberSet> find_written(const Units& units, const Variables& variables,
                                    const std::vector<NumberSet>& writes) {
    std::vector<NumberSet> all(units.size(), variables.none());
    for (bool changed = true; changed;) {
        changed = false;
        for (std::uint32_t u = 0; u < units.size(); ++u) {
            if (units[u].ends_compiled_code()) continue;
            const NumberSet written = all[u] | writes[u];
            for (const std::uint32_t next : units.successors(u)) {
                NumberSet grown = all[next] | written;
                changed |= grown != all[next];
                all[next] = std::move(grown);
            }
        }
    }
    return all;
}

}  // namespace

Liveness::Liveness(const Units& units, const Variables& variables) {
    for (const Unit& unit : units) writes.push_back(writes_of(units, unit, variables));
    live = find_live(units, variables, writes);
    written = find_written(units, variables, writes);
}

}  // namespace warpscope::emulator
