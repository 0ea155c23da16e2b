#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <vector>

#include "emulator/fast_paths/compiled/arithmetic.h"
#include "emulator/program/access_form.h"
#include "emulator/program/instruction.h"
#include "emulator/program/module.h"
#include "emulator/warp/warp.h"

namespace warpscope::emulator {

inline bool accesses_shared(const Instruction& i) {
    return AccessForm(i.target).space == Space::shared;
}

/// The data that an access moves for one lane. Four bytes that are stored as a vector (uchar4) move
/// as one word.
struct Moved {
    explicit Moved(const Instruction& i) {
        const AccessForm form(i.target);
        is_pixel = form.bytes == 1;
        elements = is_pixel ? 1 : form.elements;
        bytes = is_pixel ? 4 : form.bytes;
    }
    unsigned total() const { return bytes * elements; }
    unsigned bits() const { return bytes * 8; }

    bool is_pixel;
    unsigned elements, bytes;
};

/// An instruction with its prefixes, which run as one.
struct Unit {
    enum class Kind : std::uint8_t {
        computes,
        loads,
        stores,
        shuffles,
        passes,  ///< nothing to do but to count: a join, a hint
        branches,
        waits,  ///< at a barrier of the block
        leaves  ///< the interpreter runs it
    };
    std::uint32_t begin = 0, end = 0;  ///< indices into Kernel::code
    Kind kind = Kind::leaves;
    bool is_entry = false;   ///< the interpreter enters compiled code here
    bool is_leader = false;  ///< it is an entry or the target of a branch
    const Instruction* guard = nullptr;
    const Instruction* instruction = nullptr;
    Arithmetics::Make make = nullptr;  ///< how to compile a unit that computes
    bool ends_compiled_code() const { return kind == Kind::waits || kind == Kind::leaves; }
};

/// A kernel, divided into what is compiled and what is left to the interpreter.
class Units {
  public:
    /// `mode`: the code is for all lanes of a warp, or for some of them. For some lanes, only the
    /// loops that separate lanes are compiled. `is_watched`: an observer is told about faults of
    /// member masks, which the interpreter finds.
    Units(const Kernel& kernel, Instruction::Mode mode, bool is_watched);

    const Kernel& kernel() const { return kernel_; }
    Instruction::Mode mode() const { return mode_; }
    std::size_t size() const { return units_.size(); }
    const Unit& operator[](std::size_t u) const { return units_[u]; }
    auto begin() const { return units_.begin(); }
    auto end() const { return units_.end(); }
    /// The value of a constant slot; nullptr for others.
    const std::uint64_t* constant(std::uint32_t operand) const;
    /// The index of the unit at which a branch goes on.
    std::uint32_t target_of(const Unit& branch) const;
    /// The indices of the units that may follow a unit.
    std::vector<std::uint32_t> successors(std::uint32_t u) const;
    /// The index of the unit where the lanes that a branch separates join; ~0: nowhere.
    std::uint32_t join_of(const Unit& branch) const;
    /// True where a branch only skips some arithmetic, up to the join at its target: lanes that
    /// disagree then need not be separated.
    bool skips_arithmetic(std::uint32_t branch) const;

  private:
    void divide();
    Unit::Kind kind_of(const Unit& unit) const;
    bool is_compiled_barrier(const Unit& unit) const;
    bool is_compiled_shuffle(const Instruction& i) const;
    void find_leaders();

    const Kernel& kernel_;
    const Instruction::Mode mode_;
    const bool is_watched_;
    std::map<std::uint32_t, std::uint64_t> constants_;  ///< by operand
    std::vector<Unit> units_;
    std::vector<std::uint32_t> unit_of_;  ///< by index into Kernel::code
};

/// Finds the units that may often run for some lanes of a warp only: they are in a loop, between a
/// branch that separates lanes and the place where these join. By unit.
std::vector<bool> find_separated_loops(const Units& units);

}  // namespace warpscope::emulator
