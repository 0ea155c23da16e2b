#include "emulator/fast_paths/compiled/plan/liveness.h"

#include "emulator/ptx/opcodes.h"

namespace warpscope::emulator {

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
