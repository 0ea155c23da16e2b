#pragma once

#include <map>

#include "emulator/fast_paths/compiled/generate/function_context.h"

namespace warpscope::emulator {

/// Knows where each register of the warp lies at the place that is being written: in variables of
/// the function, in its slot of the register file, or in both (SlotVariable::place). All other
/// classes read and write registers through it.
///
/// A vector register has a variable for each group of lanes, a uniform one has a single variable. A
/// predicate is a mask of 32 lanes; within a segment its lanes may lie in a vector of i1 for each
/// group instead.
class Slots {
  public:
    explicit Slots(FunctionContext& context) : context_(context), ir_(context.ir) {}
    /// Declares the variables, in the function's first block.
    void declare_variables();

    /// Begins a segment in `block`.
    void begin_segment(LlvmBlock block);
    /// Ends the segment, and goes on in the scalar part of the next one.
    void close_segment();
    /// Ends the segment if it has changed lanes of predicates, since their masks are not known yet.
    void settle_predicates();
    /// Begins a segment at a leader. Code comes there from elsewhere, too, so that what lies in
    /// slots must be loaded again.
    void begin_leader(LlvmBlock leader);

    // Between the slots and the variables, in the builder's block.
    void fill(std::uint32_t operand);
    void fill(const Operands& operands);
    void spill(std::uint32_t operand);
    void spill(const Operands& operands);
    void spill_if_written(std::uint32_t operand);

    // Reads in the builder's block. The values are integers.
    /// The part of a register for group `g`, or its only part.
    LlvmValue part(std::uint32_t operand, unsigned g);
    /// The parts of a vector register.
    Lanes parts(std::uint32_t operand);
    /// The lanes of group `g` of any operand, with `bits` bits each.
    LlvmValue integers(std::uint32_t operand, unsigned bits, unsigned g);

    // Reads. A uniform operand is read in the scalar part, a vector in its group; the builder goes
    // on there.
    LlvmValue scalar(std::uint32_t operand, Type type);
    LlvmValue lanes(std::uint32_t operand, Type type, unsigned g);
    /// The mask of a predicate whose lanes this segment has not changed. In the scalar part.
    LlvmValue mask(std::uint32_t predicate);
    /// The mask of the lanes for which a guard or a conditional branch holds. In the scalar part.
    LlvmValue condition(const Instruction& i);

    // Writes, in the builder's block.
    void set_scalar(std::uint32_t operand, LlvmValue value);
    void set_lanes(std::uint32_t operand, LlvmValue value, unsigned g);
    void set_mask(std::uint32_t predicate, LlvmValue mask);
    /// Lanes outside of `active` keep their predicate.
    void set_mask_where(LlvmValue active, std::uint32_t predicate, LlvmValue mask);
    void set_lanes_of_predicate(std::uint32_t predicate, Lanes lanes);

  private:
    struct Register {
        std::uint32_t operand;
        const SlotVariable* planned;
        Lanes variables{};         ///< by group, or the only one
        std::uint32_t loaded = 0;  ///< bits by group: the variable has what lies in the slot
    };
    /// A predicate whose lanes are known in the segment.
    struct Predicate {
        Lanes lanes;
        bool changed = false;  ///< and so its variable is out of date
    };

    LlvmType type_of(Type type, unsigned lanes) const;
    LlvmValue constant(std::uint64_t value, Type type, unsigned lanes) const;
    LlvmType variable_type(const Register& r) const;
    LlvmValue slot(const Register& r, unsigned g) const;
    bool is_in_slot(const Register& r) const;
    void fill(const Register& r, unsigned g) const;
    void spill(const Register& r, unsigned g, LlvmValue value) const;
    void set_part(Register& r, unsigned g, LlvmValue value);
    const Lanes& lanes_of_predicate(std::uint32_t predicate);
    LlvmValue combined(const Lanes& predicate) const;

    FunctionContext& context_;
    Ir& ir_;
    std::map<std::uint32_t, Register> registers_;    ///< by operand
    std::map<std::uint32_t, Predicate> predicates_;  ///< by operand, in the segment
};

}  // namespace warpscope::emulator
