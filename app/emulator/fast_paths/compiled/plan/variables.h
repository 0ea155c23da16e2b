#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <vector>

#include "emulator/fast_paths/compiled/plan/units.h"

namespace warpscope::emulator {

/// A set of numbers below a limit.
class NumberSet {
  public:
    explicit NumberSet(std::size_t limit = 0) : words_((limit + 63) / 64) {}

    void insert(std::uint32_t number) { words_[number / 64] |= bit(number); }
    bool contains(std::uint32_t number) const { return words_[number / 64] & bit(number); }
    NumberSet& operator|=(const NumberSet& other) {
        for (std::size_t w = 0; w < words_.size(); ++w) words_[w] |= other.words_[w];
        return *this;
    }
    NumberSet& operator&=(const NumberSet& other) {
        for (std::size_t w = 0; w < words_.size(); ++w) words_[w] &= other.words_[w];
        return *this;
    }
    NumberSet& operator-=(const NumberSet& other) {
        for (std::size_t w = 0; w < words_.size(); ++w) words_[w] &= ~other.words_[w];
        return *this;
    }
    friend NumberSet operator|(NumberSet a, const NumberSet& b) { return a |= b; }
    friend NumberSet operator&(NumberSet a, const NumberSet& b) { return a &= b; }
    bool operator==(const NumberSet& other) const = default;
    /// Calls visit(number), the lowest first.
    template <typename Visit>
    void each(const Visit& visit) const {
        for (std::size_t w = 0; w < words_.size(); ++w)
            for (std::uint64_t left = words_[w]; left; left &= left - 1)
                visit(std::uint32_t(w * 64) + std::uint32_t(std::countr_zero(left)));
    }

  private:
    static std::uint64_t bit(std::uint32_t number) { return std::uint64_t(1) << number % 64; }
    std::vector<std::uint64_t> words_;
};

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

/// Where the variables of a kernel are written, and where they are still needed. All are sets of
/// variables' numbers, by unit.
struct Liveness {
    Liveness(const Units& units, const Variables& variables);

    std::vector<NumberSet> writes;  ///< the unit writes them, in some lanes at least
    std::vector<NumberSet> live;  ///< the unit, or one behind it, reads them before it writes them
    /// Compiled code may have written them before the unit, since it has begun.
    std::vector<NumberSet> written;
};

}  // namespace warpscope::emulator
