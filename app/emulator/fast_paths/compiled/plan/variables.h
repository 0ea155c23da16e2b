#pragma once

#include <functional>
#include <map>
#include <vector>

#include "emulator/fast_paths/compiled/plan/number_set.h"
#include "emulator/fast_paths/compiled/plan/units.h"

namespace warpscope::emulator {

/// A slot of the register file that compiled code keeps in variables of its own.
struct SlotVariable {
    enum class Kind : std::uint8_t { predicate, word, double_word };
    Kind kind = Kind::word;
    bool written = false;  ///< by a compiled instruction
    /// The place of the value. A value in a slot is loaded where it is read.
    enum class Place : std::uint8_t {
        variable,  ///< loaded where compiled code begins, stored where it ends
        slot,
        slot_outside_loops  ///< in a variable within each tight loop; see CompilationPlan::loop()
    };
    Place place = Place::variable;
    std::uint32_t number = 0;  ///< among the kernel's variables
    unsigned bits() const { return kind == Kind::double_word ? 64 : 32; }
};

/// Operands as in Instruction::operands, sorted.
using Operands = std::vector<std::uint32_t>;

/// The variables of a kernel.
class Variables {
  public:
    /// Finds the slots that compiled units use. All places are Place::variable.
    explicit Variables(const Units& units);

    const std::map<std::uint32_t, SlotVariable>& by_operand() const { return by_operand_; }
    const SlotVariable& operator[](std::uint32_t number) const {
        return by_operand_.at(operands_[number]);
    }
    void set_place(std::uint32_t number, SlotVariable::Place place) {
        by_operand_.at(operands_[number]).place = place;
    }
    std::size_t size() const { return operands_.size(); }
    NumberSet none() const { return NumberSet(size()); }
    /// The numbers in a set whose variables lie in this place.
    NumberSet placed(const NumberSet& set, SlotVariable::Place place) const;
    Operands operands_of(const NumberSet& set) const;

  private:
    std::map<std::uint32_t, SlotVariable> by_operand_;
    Operands operands_;  ///< by number
};

/// Calls visit(operand, kind, is written) for each slot that a compiled unit uses, sources first.
void each_operand(const Unit& unit,
                  const std::function<void(std::uint32_t, SlotVariable::Kind, bool)>& visit);

}  // namespace warpscope::emulator
