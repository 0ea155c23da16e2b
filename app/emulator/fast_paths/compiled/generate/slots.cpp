#include "emulator/fast_paths/compiled/generate/slots.h"

#include <algorithm>

namespace warpscope::emulator {

void Slots::declare_variables() {
    for (const auto& [operand, variable] : context_.plan.variables()) {
        Register& r = registers_.emplace(operand, Register{operand, &variable}).first->second;
        const unsigned parts = is_uniform(operand) ? 1 : context_.group_count;
        const LlvmType type = variable_type(r);
        for (unsigned g = 0; g < parts; ++g) r.variables.push_back(ir_.variable(type));
    }
}

void Slots::begin_segment(LlvmBlock block) {
    context_.segment.begin(block);
    predicates_.clear();
}

void Slots::close_segment() {
    if (context_.segment.has_groups()) {
        context_.segment.close();
        for (const auto& [operand, predicate] : predicates_)
            if (predicate.changed) set_part(registers_.at(operand), 0, combined(predicate.lanes));
    }
    predicates_.clear();
    context_.segment.go_on_in_scalar_part();
}

void Slots::settle_predicates() {
    const auto has_changed = [](const auto& entry) { return entry.second.changed; };
    if (std::ranges::any_of(predicates_, has_changed)) close_segment();
}

void Slots::begin_leader(LlvmBlock leader) {
    begin_segment(leader);
    for (auto& [operand, r] : registers_) r.loaded = 0;
}

LlvmType Slots::variable_type(const Register& r) const {
    return ir_.integer(r.planned->bits(), is_uniform(r.operand) ? 0 : context_.width);
}

// The address of the part of a register for group `g`, or of its only part.
LlvmValue Slots::slot(const Register& r, unsigned g) const {
    const unsigned bytes = r.planned->bits() / 8 * context_.width;
    return ir_.at(context_.registers, slot_offset(r.operand) + g * bytes);
}

bool Slots::is_in_slot(const Register& r) const {
    return r.planned->place == SlotVariable::Place::slot ||
           (r.planned->place == SlotVariable::Place::slot_outside_loops && context_.loop == 0);
}

void Slots::fill(const Register& r, unsigned g) const {
    const unsigned align = is_uniform(r.operand) ? 4 : 16;
    ir_.store(ir_.load(variable_type(r), slot(r, g), align), r.variables[g]);
}

void Slots::fill(std::uint32_t operand) {
    const Register& r = registers_.at(operand);
    for (unsigned g = 0; g < r.variables.size(); ++g) fill(r, g);
}

void Slots::fill(const Operands& operands) {
    for (const std::uint32_t operand : operands) fill(operand);
}

// Lanes that do not run keep what lies in the register file.
void Slots::spill(const Register& r, unsigned g, LlvmValue value) const {
    const bool uniform = is_uniform(r.operand);
    const LlvmType type = variable_type(r);
    const LlvmValue place = slot(r, g), running = context_.running;
    if (running && !uniform) {
        ir_.intrinsic("masked.store", ir_.nothing(),
                      {value, place, ir_.integer_of(32, 16), context_.lanes_of_mask(running, g)},
                      {type, ir_.pointer()});
        return;
    }
    if (running && r.planned->kind == SlotVariable::Kind::predicate)
        value = ir_.op(Ir::or_, ir_.op(Ir::and_, value, running),
                       ir_.op(Ir::and_, ir_.load(type, place), ir_.not_(running)));
    ir_.store(value, place, uniform ? 4 : 16);
}

void Slots::spill(std::uint32_t operand) {
    const Register& r = registers_.at(operand);
    for (unsigned g = 0; g < r.variables.size(); ++g)
        spill(r, g, ir_.load(variable_type(r), r.variables[g]));
}

void Slots::spill(const Operands& operands) {
    for (const std::uint32_t operand : operands) spill(operand);
}

void Slots::spill_if_written(std::uint32_t operand) {
    const auto found = registers_.find(operand);
    if (found != registers_.end() && found->second.planned->written) spill(operand);
}

LlvmValue Slots::part(std::uint32_t operand, unsigned g) {
    Register& r = registers_.at(operand);
    if (is_in_slot(r) && !(r.loaded >> g & 1)) {
        r.loaded |= 1u << g;
        fill(r, g);
    }
    return ir_.load(variable_type(r), r.variables[g]);
}

Lanes Slots::parts(std::uint32_t operand) {
    Lanes all;
    for (unsigned g = 0; g < context_.group_count; ++g) all.push_back(part(operand, g));
    return all;
}

LlvmValue Slots::integers(std::uint32_t operand, unsigned bits, unsigned g) {
    if (const std::uint64_t* value = context_.plan.constant(operand))
        return ir_.number(ir_.integer(bits, context_.width), *value);
    if (!is_uniform(operand)) return part(operand, g);
    return ir_.splat(ir_.cast(Ir::trunc, part(operand, 0), ir_.integer(bits)), context_.width);
}

LlvmType Slots::type_of(Type type, unsigned lanes) const {
    if (type == Type::f32) return ir_.f32(lanes);
    if (type == Type::f64) return ir_.f64(lanes);
    return ir_.integer(bits_of(type), lanes);
}

LlvmValue Slots::constant(std::uint64_t value, Type type, unsigned lanes) const {
    if (type == Type::pred) return ir_.number(ir_.integer(1, lanes), value & 1);
    const LlvmValue bits = ir_.number(ir_.integer(bits_of(type), lanes), value);
    return is_float(type) ? ir_.cast(Ir::bitcast, bits, type_of(type, lanes)) : bits;
}

LlvmValue Slots::scalar(std::uint32_t operand, Type type) {
    context_.segment.go_on_in_scalar_part();
    if (type == Type::pred) return ir_.compare_with(Ir::ne, mask(operand), 0);
    if (const std::uint64_t* value = context_.plan.constant(operand))
        return constant(*value, type, 0);
    LlvmValue value = part(operand, 0);
    if (bits_of(type) == 32) value = ir_.cast(Ir::trunc, value, ir_.integer(32));
    return is_float(type) ? ir_.cast(Ir::bitcast, value, type_of(type, 0)) : value;
}

LlvmValue Slots::lanes(std::uint32_t operand, Type type, unsigned g) {
    if (type == Type::pred) {
        const LlvmValue found = lanes_of_predicate(operand)[g];
        context_.segment.go_on_in_group(g);
        return found;
    }
    if (const std::uint64_t* value = context_.plan.constant(operand)) {
        context_.segment.go_on_in_group(g);
        return constant(*value, type, context_.width);
    }
    if (is_uniform(operand)) {
        const LlvmValue value = scalar(operand, type);
        context_.segment.go_on_in_group(g);
        return ir_.splat(value, context_.width);
    }
    context_.segment.go_on_in_group(g);
    const LlvmValue value = part(operand, g);
    return is_float(type) ? ir_.cast(Ir::bitcast, value, type_of(type, context_.width)) : value;
}

LlvmValue Slots::mask(std::uint32_t predicate) {
    if (const std::uint64_t* value = context_.plan.constant(predicate))
        return ir_.integer_of(32, std::uint32_t(*value));
    return part(predicate, 0);
}

LlvmValue Slots::condition(const Instruction& i) {
    const LlvmValue holds = mask(i.operands[0]);
    const bool inverted = i.role == Role::guard_not || i.role == Role::branch_unless;
    const LlvmValue lanes = inverted ? ir_.not_(holds) : holds;
    return context_.running ? ir_.op(Ir::and_, lanes, context_.running) : lanes;
}

const Lanes& Slots::lanes_of_predicate(std::uint32_t predicate) {
    Lanes& found = predicates_[predicate].lanes;
    if (!found.empty()) return found;
    context_.segment.go_on_in_scalar_part();
    const LlvmValue bits = mask(predicate);
    for (unsigned g = 0; g < context_.group_count; ++g)
        found.push_back(context_.lanes_of_mask(bits, g));
    return found;
}

LlvmValue Slots::combined(const Lanes& predicate) const {
    const unsigned width = context_.width;
    LlvmValue all = ir_.integer_of(32, 0);
    for (unsigned g = 0; g < context_.group_count; ++g) {
        const LlvmValue bits = ir_.cast(
            Ir::zext, ir_.cast(Ir::bitcast, predicate[g], ir_.integer(width)), ir_.integer(32));
        all = ir_.op(Ir::or_, all, ir_.op(Ir::shl, bits, g * width));
    }
    return all;
}

void Slots::set_part(Register& r, unsigned g, LlvmValue value) {
    ir_.store(value, r.variables[g]);
    if (!is_in_slot(r)) return;
    spill(r, g, value);
    r.loaded |= 1u << g;
}

void Slots::set_scalar(std::uint32_t operand, LlvmValue value) {
    Register& r = registers_.at(operand);
    const LlvmType type = ir_.llvm().TypeOf(value);
    if (type == ir_.f32()) value = ir_.cast(Ir::bitcast, value, ir_.integer(32));
    if (type == ir_.f64()) value = ir_.cast(Ir::bitcast, value, ir_.integer(64));
    set_part(r, 0, ir_.cast(Ir::zext, value, variable_type(r)));
}

void Slots::set_lanes(std::uint32_t operand, LlvmValue value, unsigned g) {
    Register& r = registers_.at(operand);
    set_part(r, g, ir_.cast(Ir::bitcast, value, variable_type(r)));
}

void Slots::set_mask(std::uint32_t predicate, LlvmValue mask) {
    predicates_.erase(predicate);
    set_part(registers_.at(predicate), 0, mask);
}

void Slots::set_mask_where(LlvmValue active, std::uint32_t predicate, LlvmValue mask) {
    const LlvmValue kept = ir_.op(Ir::and_, this->mask(predicate), ir_.not_(active));
    set_mask(predicate, ir_.op(Ir::or_, ir_.op(Ir::and_, mask, active), kept));
}

void Slots::set_lanes_of_predicate(std::uint32_t predicate, Lanes lanes) {
    predicates_[predicate] = {std::move(lanes), true};
}

}  // namespace warpscope::emulator
