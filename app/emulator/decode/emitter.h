#pragma once

#include <cfenv>
#include <cstdint>
#include <utility>
#include <vector>

#include "emulator/decode/kernel_state.h"

namespace warpscope::emulator {

/// An instruction before it is written into the kernel.
struct Emission {
    Handler full = nullptr;
    Handler masked = nullptr;  ///< nullptr: `full` runs in its place
    std::vector<std::uint32_t> operands;
    std::int64_t immediate = 0;
    std::uint32_t target = 0;
    std::uint16_t detail = 0;
    bool cost_point = false;  ///< its handler counts executed instructions: see Warp::cost_point
    MemoryAccess access = MemoryAccess::none;
    Space space = Space::generic;
    MemoryOrder order = MemoryOrder::weak;
    bool compares = false;
    Scope scope = Scope::device;
    std::int16_t base = -1;
    std::uint8_t bytes = 0;
    std::uint8_t address_operand = 0;
    Role role = Role::operation;
    Operation operation = Operation::unknown;
    Type type = Type::b32;
    Type second_type = Type::b32;
    std::uint8_t modifiers = 0;  ///< a set of Instruction::Modifier
};

inline Emission emission_of(std::vector<std::uint32_t> operands) {
    Emission e;
    e.operands = std::move(operands);
    return e;
}

/// The float mode of one operation.
struct FloatRequest {
    bool keeps_subnormals = false;  ///< keep subnormals in a kernel that flushes them elsewhere
    int rounding = FE_TONEAREST;
};

/// Appends instructions to a kernel and counts the cost of its PTX statements.
class Emitter {
  public:
    explicit Emitter(KernelState& state) : state_(state) {}

    /// Counts a statement. Every statement costs one instruction, whether it emits some or not.
    void count_statement(const Statement& statement);
    bool has_pending_cost() const { return pending_cost_ > 0; }
    void begin(const Statement& statement);

    /// Emits an instruction of the statement, behind the prefixes that it needs. The first
    /// instruction shows the statement to the user; the others count as inserted.
    void emit(const Emission& e, const FloatRequest& mode = {});
    /// Emits an instruction without the statement's guard, which is hidden from the user.
    void emit_inserted(const Emission& e, const FloatRequest& mode = {});
    /// Emits a branch, which evaluates the statement's guard itself.
    void emit_branch(const Emission& e) { append(e, false); }

    std::uint32_t position() const { return std::uint32_t(state_.kernel->code.size()); }
    /// The slot of the condition code register's carry flag, CC.CF.
    std::uint32_t carry_slot();

  private:
    void emit_turnstile(const Emission& e);
    void emit_float_mode(const FloatRequest& mode);
    void append(const Emission& e, bool inserted);

    KernelState& state_;
    const Statement* statement_ = nullptr;
    bool is_first_ = true;  // true until the statement has emitted an instruction
    std::uint32_t pending_cost_ = 0;
    std::uint32_t carry_slot_ = 0;
};

}  // namespace warpscope::emulator
