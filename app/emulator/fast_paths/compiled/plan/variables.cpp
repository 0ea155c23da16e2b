#include "emulator/fast_paths/compiled/plan/variables.h"

#include <algorithm>

#include "emulator/program/access_form.h"

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

}  // namespace warpscope::emulator
