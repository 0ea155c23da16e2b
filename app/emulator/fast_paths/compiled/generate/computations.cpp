#include "emulator/fast_paths/compiled/generate/computations.h"

#include "emulator/handlers/handlers.h"

namespace warpscope::emulator {

void Computations::compute(const Unit& unit, LlvmValue active) {
    const Instruction& i = *unit.instruction;
    if (i.type == Type::pred) return compute_mask(unit);
    bool is_scalar = is_uniform(i.operands[0]);
    if (operand_type(i, 0) == Type::pred)
        is_scalar = is_uniform(i.operands[1]) && is_uniform(i.operands[2]);
    is_scalar ? compute_scalar(unit) : compute_lanes(unit, active);
}

// Logic on predicates works on masks of 32 lanes.
void Computations::compute_mask(const Unit& unit) {
    const Instruction& i = *unit.instruction;
    slots_.settle_predicates();
    context_.segment.go_on_in_scalar_part();
    LlvmValue sources[2] = {};
    for (unsigned k = 0; k < source_count(i); ++k) sources[k] = slots_.mask(i.operands[k + 1]);
    const LlvmValue result = unit.make(arithmetics_, i, sources);
    if (unit.guard)
        slots_.set_mask_where(slots_.condition(*unit.guard), i.operands[0], result);
    else
        slots_.set_mask(i.operands[0], result);
}

void Computations::compute_scalar(const Unit& unit) {
    const Instruction& i = *unit.instruction;
    slots_.settle_predicates();
    LlvmValue sources[4] = {};
    for (unsigned k = 0; k < source_count(i); ++k)
        sources[k] = slots_.scalar(i.operands[k + 1], operand_type(i, k + 1));
    context_.segment.go_on_in_scalar_part();
    LlvmValue result = unit.make(arithmetics_, i, sources);
    context_.segment.set_scalar_part();
    const LlvmValue active = unit.guard ? slots_.condition(*unit.guard) : nullptr;
    if (operand_type(i, 0) == Type::pred) {
        result = ir_.cast(Ir::sext, result, ir_.integer(32));
        if (active) return slots_.set_mask_where(active, i.operands[0], result);
        return slots_.set_mask(i.operands[0], result);
    }
    if (active)
        result = ir_.select(ir_.compare_with(Ir::ne, active, 0), result,
                            slots_.scalar(i.operands[0], operand_type(i, 0)));
    slots_.set_scalar(i.operands[0], result);
}

// LLVM spends time on the bits that it knows of a constant mask, and gains nothing by it. So masks
// are loaded from memory.
LlvmValue Computations::source(const Instruction& i, unsigned k, unsigned g) {
    const LlvmValue value = slots_.lanes(i.operands[k], operand_type(i, k), g);
    const bool is_mask = i.operation == Operation::and_ || i.operation == Operation::or_ ||
                         i.operation == Operation::xor_;
    return is_mask && context_.plan.constant(i.operands[k]) ? ir_.in_memory(value) : value;
}

void Computations::compute_lanes(const Unit& unit, LlvmValue active) {
    const Instruction& i = *unit.instruction;
    const bool is_predicate = operand_type(i, 0) == Type::pred;
    const auto before = [&](unsigned g) {
        return slots_.lanes(i.operands[0], operand_type(i, 0), g);
    };
    Lanes results;
    for (unsigned g = 0; g < context_.group_count; ++g) {
        LlvmValue sources[4] = {};
        for (unsigned k = 0; k < source_count(i); ++k) sources[k] = source(i, k + 1, g);
        context_.segment.go_on_in_group(g);
        LlvmValue result = unit.make(arithmetics_, i, sources);
        context_.segment.set_group(g);
        if (active) {
            const LlvmValue lanes = context_.lanes_of_mask(active, g);
            result = ir_.select(lanes, result, before(g));
        }
        if (unit.guard) {
            LlvmValue lanes = slots_.lanes(unit.guard->operands[0], Type::pred, g);
            if (unit.guard->role == Role::guard_not) lanes = ir_.not_(lanes);
            result = ir_.select(lanes, result, before(g));
        }
        if (is_predicate)
            results.push_back(result);
        else
            slots_.set_lanes(i.operands[0], result, g);
    }
    if (is_predicate) slots_.set_lanes_of_predicate(i.operands[0], std::move(results));
}

// shfl.sync of all lanes by a constant distance within constant segments (PTX ISA 9.7.9.6).
void Computations::shuffle(const Unit& unit) {
    slots_.close_segment();
    const Instruction& i = *unit.instruction;
    const LlvmValue values = ir_.joined(slots_.parts(i.operands[2]));
    const int distance = int(*context_.plan.constant(i.operands[3]) & 31);
    const auto c = std::uint32_t(*context_.plan.constant(i.operands[4]));
    const int segment = int(c >> 8 & 31), clamp = int(c & 31);
    std::vector<int> from(lanes_per_warp);
    std::uint32_t in_range = 0;
    for (int lane = 0; lane < int(lanes_per_warp); ++lane) {
        const int first = lane & segment, last = first | (clamp & ~segment);
        const auto mode = ShuffleMode(i.detail);
        const int source = mode == ShuffleMode::up     ? lane - distance
                           : mode == ShuffleMode::down ? lane + distance
                           : mode == ShuffleMode::bfly ? lane ^ distance
                                                       : first | (distance & ~segment);
        const bool valid = mode == ShuffleMode::up ? source >= last : source <= last;
        from[std::size_t(lane)] = valid ? source : lane;
        in_range |= std::uint32_t(valid) << lane;
    }
    const LlvmValue result = ir_.shuffle(values, values, from);
    const unsigned width = context_.width;
    for (unsigned g = 0; g < context_.group_count; ++g)
        slots_.set_lanes(i.operands[0], ir_.part(result, g * width, width), g);
    if (i.operands[1]) slots_.set_mask(i.operands[1], ir_.integer_of(32, in_range));
}

}  // namespace warpscope::emulator
