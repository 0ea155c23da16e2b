#include "emulator/fast_paths/alike/block_values.h"

#include <algorithm>

#include "emulator/ptx/effects.h"

namespace warpscope::emulator {

namespace {

using Value = BlockValue;

Value value_of(Special special) {
    if (varies_by_lane(special)) return Value::known;
    switch (special) {
        case Special::ctaid_x:
        case Special::ctaid_y:
        case Special::ctaid_z:
            return Value::per_block;
        case Special::ntid_x:
        case Special::ntid_y:
        case Special::ntid_z:
        case Special::nctaid_x:
        case Special::nctaid_y:
        case Special::nctaid_z:
        case Special::nwarpid:
        case Special::dynamic_smem_size:
        case Special::total_smem_size:
            return Value::constant;
        default:
            return Value::unknown;
    }
}

// Arithmetic modulo 2^32 is exact in registers of 32 and 64 bits, which wrap around at a multiple
// of 2^32, however their upper halves are filled.
bool keeps_low_word(const Statement& s) {
    if (s.has("sat")) return false;
    const std::vector<Type> types = s.types();
    return !types.empty() && std::all_of(types.begin(), types.end(), [](Type type) {
        return bits_of(type) >= 32 && !is_float(type);
    });
}

/// Returns the wider of two values: known and per_block together are `mixed`.
BlockValue wider(BlockValue a, BlockValue b, BlockValue mixed) {
    if (a == b || b == Value::constant) return a;
    if (a == Value::constant) return b;
    const bool mixes = (a == Value::known && b == Value::per_block) ||
                       (a == Value::per_block && b == Value::known);
    return mixes ? mixed : std::max(a, b);
}

}  // namespace

bool reads_argument(const KernelSyntax& kernel, const Statement& load) {
    const Operand& from = load.operands[1];
    return load.has("param") && from.kind == Operand::address && from.elements.size() == 1 &&
           from.elements[0].kind == Operand::symbol &&
           std::any_of(kernel.parameters.begin(), kernel.parameters.end(),
                       [&](const Parameter& p) { return p.name == from.elements[0].name; });
}

BlockValues::BlockValues(const KernelSyntax& kernel, const ControlFlow& flow,
                         const Uniformity& uniformity)
    : kernel_(kernel),
      flow_(flow),
      uniformity_(uniformity),
      values_(kernel.registers.size(), Value::constant),
      registers_(kernel.registers.size()),
      certain_(flow.blocks.size(), true) {
    collect_registers();
    do {
        while (propagate()) {
        }
    } while (mark_uncertain());
}

void BlockValues::collect_registers() {
    std::vector<std::uint32_t> setting(registers_.size());
    for (std::uint32_t i = 0; i < kernel_.statements.size(); ++i)
        for (const std::int32_t r : destinations_of(kernel_.statements[i])) {
            registers_[std::size_t(r)].settings += kernel_.statements[i].guard < 0 ? 1 : 2;
            registers_[std::size_t(r)].set_in = flow_.block_of[i];
            setting[std::size_t(r)] = i;
        }
    for (std::uint32_t i = 0; i < kernel_.statements.size(); ++i)
        for (const std::int32_t r : sources_of(kernel_.statements[i])) {
            Register& read = registers_[std::size_t(r)];
            read.leaves_block |= flow_.block_of[i] != read.set_in || i <= setting[std::size_t(r)];
        }
    for (std::size_t r = 0; r < registers_.size(); ++r)
        if (uniformity_.live_at_entry[r]) registers_[r].settings += 2;
}

BlockValue BlockValues::of(const Operand& o) const {
    if (o.kind == Operand::register_) return of(o.index);
    if (o.kind == Operand::special) return value_of(special_named(o.name));
    Value all = Value::constant;
    for (const Operand& e : o.elements) all = wider(all, of(e), Value::unknown);
    return all;
}

BlockValue BlockValues::linear_result(const Statement& s) const {
    const auto operand = [&](std::size_t k) { return of(s.operands[k]); };
    const auto sum = [](Value a, Value b) { return wider(a, b, Value::shifted); };
    const auto product = [&](Value a, Value b) {
        const Value both = wider(a, b, Value::unknown);
        const bool scales = a == Value::constant || b == Value::constant;
        return both < Value::shifted || scales ? both : Value::unknown;
    };
    if (!keeps_low_word(s)) return Value::unknown;
    switch (s.opcode->operation) {
        case Operation::add:
        case Operation::sub:
            return sum(operand(1), operand(2));
        case Operation::mul_lo:
        case Operation::mul_wide:
            return product(operand(1), operand(2));
        case Operation::mad_lo:
        case Operation::mad_wide:
            return sum(product(operand(1), operand(2)), operand(3));
        case Operation::shl:
            return operand(2) == Value::constant ? operand(1) : Value::unknown;
        case Operation::mov:
            return s.operands[1].kind == Operand::vector || s.operands[0].kind == Operand::vector
                       ? Value::unknown
                       : operand(1);
        case Operation::cvt:
            return operand(1);
        case Operation::cvta:
            return s.has("global") ? operand(1) : Value::unknown;
        default:
            return Value::unknown;
    }
}

BlockValue BlockValues::result_of(const Statement& s) const {
    if (s.opcode->kind == OpcodeKind::loads && s.guard < 0 && reads_argument(kernel_, s))
        return Value::constant;
    if (s.opcode->kind != OpcodeKind::computes) return Value::unknown;
    Value all = s.guard < 0 ? Value::constant : of(s.guard);
    for (std::size_t k = destination_count(s); k < s.operands.size(); ++k)
        all = wider(all, of(s.operands[k]), Value::shifted);
    // A function of known values is known, one of values of the block is a value of the block.
    if (all < Value::shifted) return all;
    return s.guard < 0 ? linear_result(s) : Value::unknown;
}

bool BlockValues::widen(std::int32_t r, BlockValue value, std::uint32_t block) {
    const Register& set = registers_[std::size_t(r)];
    // A thread may set the register in several places. If all of them are certain, it has set it in
    // equal places in every block.
    if (set.settings > 1) value = is_known(value) ? Value::known : Value::unknown;
    if (!certain_[block] && (set.settings > 1 || set.leaves_block)) value = Value::unknown;
    Value& old = values_[std::size_t(r)];
    const Value both = wider(old, value, Value::unknown);
    if (both == old) return false;
    old = both;
    return true;
}

bool BlockValues::propagate() {
    bool changed = false;
    for (std::uint32_t i = 0; i < kernel_.statements.size(); ++i) {
        const Statement& s = kernel_.statements[i];
        if (destination_count(s) == 0) continue;
        const Value value = result_of(s);
        for (const std::int32_t r : destinations_of(s))
            changed |= widen(r, value, flow_.block_of[i]);
    }
    return changed;
}

bool BlockValues::mark_uncertain() {
    bool changed = false;
    for (std::uint32_t b = 0; b < flow_.blocks.size(); ++b) {
        const Statement& last = kernel_.statements[flow_.blocks[b].end - 1];
        if (flow_.blocks[b].successors.size() != 2 || is_known(of(last.guard))) continue;
        const std::vector<bool> between = before_join(b);
        for (std::size_t k = 0; k < between.size(); ++k)
            if (between[k] && certain_[k]) {
                certain_[k] = false;
                changed = true;
            }
    }
    return changed;
}

std::vector<bool> BlockValues::before_join(std::uint32_t block) const {
    const std::uint32_t join = join_of(block);
    std::vector<bool> all(flow_.blocks.size(), false);
    for (const std::uint32_t side : flow_.blocks[block].successors) {
        const std::vector<bool> region = flow_.region(side, join);
        for (std::size_t k = 0; k < all.size(); ++k) all[k] = all[k] || region[k];
    }
    return all;
}

}  // namespace warpscope::emulator
