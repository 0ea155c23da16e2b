#include "emulator/wing/compiled/generator.h"

// Operands: variables, constants and predicates.
namespace warpscope::emulator {

LlvmType Generator::type_of(Type type, unsigned lanes) const {
    if (type == Type::f32) return ir_.f32(lanes);
    if (type == Type::f64) return ir_.f64(lanes);
    return ir_.integer(bits_of(type), lanes);
}

LlvmValue Generator::constant(std::uint64_t value, Type type, unsigned lanes) const {
    if (type == Type::pred) return ir_.number(ir_.integer(1, lanes), value & 1);
    const LlvmValue bits = ir_.number(ir_.integer(bits_of(type), lanes), value);
    return is_float(type) ? ir_.cast(Ir::bitcast, bits, type_of(type, lanes)) : bits;
}

// The type of a variable: of each of its parts by group, or of the only one.
LlvmType Generator::variable_type(std::uint32_t operand) const {
    return ir_.integer(plan_.variables().at(operand).bits(), is_uniform(operand) ? 0 : width_);
}

// Where the register file has the part of a variable for group `g`, or the only one.
LlvmValue Generator::slot(std::uint32_t operand, unsigned g) const {
    const unsigned bytes = plan_.variables().at(operand).bits() / 8 * width_;
    return ir_.at(registers_, slot_offset(operand) + g * bytes);
}

bool Generator::is_in_slot(std::uint32_t operand) const {
    const SlotVariable::Place place = plan_.variables().at(operand).place;
    return place == SlotVariable::Place::slot ||
           (place == SlotVariable::Place::slot_outside_loops && loop_ == 0);
}

// The part of a variable for group `g`, or the only one. In the current block.
LlvmValue Generator::variable(std::uint32_t operand, unsigned g) {
    if (is_in_slot(operand) && loaded_.insert({operand, g}).second) fill(operand, g);
    return ir_.load(variable_type(operand), storage_[operand][g]);
}

// All groups of a variable.
Generator::Lanes Generator::variables(std::uint32_t operand) {
    Lanes all;
    for (unsigned g = 0; g < group_count_; ++g) all.push_back(variable(operand, g));
    return all;
}

void Generator::set_variable(std::uint32_t operand, unsigned g, LlvmValue value) {
    ir_.store(value, storage_[operand][g]);
    if (!is_in_slot(operand)) return;
    spill(operand, g, value);
    loaded_.insert({operand, g});
}

// A uniform operand. Leaves the builder in the scalar part.
LlvmValue Generator::scalar(std::uint32_t operand, Type type) {
    in_scalar_part();
    if (type == Type::pred) return ir_.compare_with(Ir::ne, mask(operand), 0);
    if (const std::uint64_t* value = plan_.constant(operand)) return constant(*value, type, 0);
    LlvmValue value = variable(operand, 0);
    if (bits_of(type) == 32) value = ir_.cast(Ir::trunc, value, ir_.integer(32));
    return is_float(type) ? ir_.cast(Ir::bitcast, value, type_of(type, 0)) : value;
}

// The lanes of group `g`. Leaves the builder in that group.
LlvmValue Generator::lanes(std::uint32_t operand, Type type, unsigned g) {
    if (type == Type::pred) {
        const LlvmValue found = lanes_of_predicate(operand)[g];
        in_group(g);
        return found;
    }
    if (const std::uint64_t* value = plan_.constant(operand)) {
        in_group(g);
        return constant(*value, type, width_);
    }
    if (is_uniform(operand)) {
        const LlvmValue value = scalar(operand, type);
        in_group(g);
        return ir_.splat(value, width_);
    }
    in_group(g);
    const LlvmValue value = variable(operand, g);
    return is_float(type) ? ir_.cast(Ir::bitcast, value, type_of(type, width_)) : value;
}

// A source of arithmetic. Masks that LLVM knows teach it the most bits, and help it the least.
LlvmValue Generator::source(const Instruction& i, unsigned k, unsigned g) {
    const LlvmValue value = lanes(i.operands[k], operand_type(i, k), g);
    const bool is_mask = i.operation == Operation::and_ || i.operation == Operation::or_ ||
                         i.operation == Operation::xor_;
    return is_mask && plan_.constant(i.operands[k]) ? ir_.in_memory(value) : value;
}

// The mask of a predicate whose lanes this segment has not changed. In the scalar part.
LlvmValue Generator::mask(std::uint32_t predicate) {
    if (const std::uint64_t* value = plan_.constant(predicate))
        return ir_.integer_of(32, std::uint32_t(*value));
    return variable(predicate, 0);
}

// The mask of the lanes for which a guard or a conditional branch holds. In the scalar part.
LlvmValue Generator::condition(const Instruction& i) {
    const LlvmValue holds = mask(i.operands[0]);
    const bool inverted = i.role == Role::guard_not || i.role == Role::branch_unless;
    const LlvmValue lanes = inverted ? ir_.not_(holds) : holds;
    return running_ ? ir_.op(Ir::and_, lanes, running_) : lanes;
}

LlvmValue Generator::running() const {
    return running_ ? running_ : ir_.integer_of(32, 0xFFFFFFFF);
}

LlvmValue Generator::lanes_of_mask(LlvmValue mask, unsigned g) const {
    const LlvmValue group =
        ir_.cast(Ir::trunc, ir_.op(Ir::lshr, mask, g * width_), ir_.integer(width_));
    return ir_.cast(Ir::bitcast, group, ir_.integer(1, width_));
}

Generator::Lanes& Generator::lanes_of_predicate(std::uint32_t predicate) {
    Lanes& found = predicates_[predicate];
    if (!found.empty()) return found;
    in_scalar_part();
    const LlvmValue bits = mask(predicate);
    for (unsigned g = 0; g < group_count_; ++g) found.push_back(lanes_of_mask(bits, g));
    return found;
}

LlvmValue Generator::combined(const Lanes& predicate) const {
    LlvmValue all = ir_.integer_of(32, 0);
    for (unsigned g = 0; g < group_count_; ++g) {
        const LlvmValue bits = ir_.cast(
            Ir::zext, ir_.cast(Ir::bitcast, predicate[g], ir_.integer(width_)), ir_.integer(32));
        all = ir_.op(Ir::or_, all, ir_.op(Ir::shl, bits, g * width_));
    }
    return all;
}

void Generator::set_scalar(std::uint32_t operand, LlvmValue value) {
    const unsigned bits = plan_.variables().at(operand).bits();
    const LlvmType type = ir_.llvm().TypeOf(value);
    if (type == ir_.f32()) value = ir_.cast(Ir::bitcast, value, ir_.integer(32));
    if (type == ir_.f64()) value = ir_.cast(Ir::bitcast, value, ir_.integer(64));
    set_variable(operand, 0, ir_.cast(Ir::zext, value, ir_.integer(bits)));
}

void Generator::set_lanes(std::uint32_t operand, LlvmValue value, unsigned g) {
    const unsigned bits = plan_.variables().at(operand).bits();
    set_variable(operand, g, ir_.cast(Ir::bitcast, value, ir_.integer(bits, width_)));
}

void Generator::set_mask(std::uint32_t predicate, LlvmValue mask) {
    predicates_.erase(predicate);
    changed_predicates_.erase(predicate);
    set_variable(predicate, 0, mask);
}

// Lanes outside of `active` keep their predicate.
void Generator::set_mask_where(LlvmValue active, std::uint32_t predicate, LlvmValue mask) {
    const LlvmValue kept = ir_.op(Ir::and_, this->mask(predicate), ir_.not_(active));
    set_mask(predicate, ir_.op(Ir::or_, ir_.op(Ir::and_, mask, active), kept));
}

}  // namespace warpscope::emulator
