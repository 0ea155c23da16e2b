#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "emulator/decode/decode_kernel.h"
#include "emulator/handlers/handlers.h"

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
    bool gathers = false;
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
    enum Subnormals : std::uint8_t { any, kept, flushed };
    Subnormals subnormals = any;
    Rounding rounding = Rounding::nearest;
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

/// The elements of a vector {a, b}; of another operand, itself.
inline std::vector<Operand> elements_of(const Operand& o) {
    return o.kind == Operand::vector ? o.elements : std::vector<Operand>{o};
}

/// The operands of one statement as slots of the register file: see Instruction::operands.
class OperandReader {
  public:
    OperandReader(KernelState& state, const Statement& statement)
        : state_(state), statement_(statement) {}

    const Statement& statement() const { return statement_; }
    const Operand& operand(std::size_t k) const { return statement_.operands[k]; }

    /// The slot of a register that the statement writes; 0 for the sink _.
    std::uint32_t destination(const Operand& o) const;
    /// The slot of a value that is read as `type`: a register, constant, special register or the
    /// address of a variable.
    std::uint32_t source(const Operand& o, Type type);
    /// Operand k, read as the type that the opcode table gives it.
    std::uint32_t source(std::size_t k, Type instruction_type);
    Type type_of(std::size_t k, Type instruction_type) const;

    unsigned register_bits(const Operand& o) const;  ///< 0 if the operand is no register
    /// Fails if a register is too narrow for a value of `type`, because the access would reach into
    /// the next register. Also fails if a predicate stands for a number or a number for a
    /// predicate.
    void check_width(const Operand& o, Type type) const;
    Symbol symbol(const Operand& o) const;
    [[noreturn]] void fail(const std::string& what) const { fail_at(state_, statement_, what); }

  protected:
    KernelState& state_;
    const Statement& statement_;
};

/// Decodes one statement: reads its operands and emits its instructions.
class StatementDecoder : public OperandReader {
  public:
    StatementDecoder(KernelState& state, const Statement& statement, Emitter& emitter)
        : OperandReader(state, statement), emitter_(emitter), types_(statement.types()) {}

    KernelState& state() { return state_; }
    Emitter& emitter() { return emitter_; }
    Operation operation() const { return statement_.opcode->operation; }
    bool has(std::string_view modifier) const { return statement_.has(modifier); }
    /// Returns type modifier k; fails if the statement has fewer.
    Type type(std::size_t k = 0) const;
    const std::vector<Type>& types() const { return types_; }

    /// Set where the operation's rounding or flushing differs from the kernel's.
    FloatRequest float_mode;
    /// What an operation asks for that flushes only with .ftz.
    FloatRequest::Subnormals subnormals() const {
        return has("ftz") ? FloatRequest::flushed : FloatRequest::kept;
    }

    void emit(Emission e);
    void emit_inserted(Emission e);
    /// Emits an operation whose result goes into a slot of `bits` bits, 32 or 64, and whose handler
    /// writes all lanes.
    void emit_value(Handler handler, std::uint32_t destination, unsigned bits, Emission e);
    /// Emits an operation whose result is a predicate.
    void emit_predicate(Handler handler, std::uint32_t destination, Emission e);
    /// `operands` begin with the destination.
    void emit_arithmetic(const Arithmetic& arithmetic, Type result,
                         std::vector<std::uint32_t> operands);

    std::uint32_t new_predicate() { return state_.slots.uniform(); }
    std::uint32_t constant(std::uint64_t value) { return state_.slots.constant(value); }
    /// Returns the slot of a predicate operand; the slot of its inverse if it is negated (!p).
    std::uint32_t predicate_source(const Operand& o);

    [[noreturn]] void fail_form() const;  ///< "unknown form of mul"

  private:
    Emission completed(Emission e) const;

    Emitter& emitter_;
    std::vector<Type> types_;
};

/// Returns which operands are uniform; the destination comes first.
OperandKinds kinds_of(const std::vector<std::uint32_t>& operands);

// The following functions decode one Grammar each. They are grouped by the file that defines them.

// decode_arithmetic.cpp
void decode_arithmetic(StatementDecoder& d);
void decode_pair(StatementDecoder& d);
void decode_extremum(StatementDecoder& d);
void decode_carry(StatementDecoder& d);
void decode_dot_product(StatementDecoder& d);
void decode_absolute_difference(StatementDecoder& d);
void decode_truth_table(StatementDecoder& d);

// decode_arithmetic.cpp: comparisons
void decode_compare(StatementDecoder& d);
void decode_set(StatementDecoder& d);
void decode_select(StatementDecoder& d);
void decode_test(StatementDecoder& d);

// decode_move.cpp
void decode_move(StatementDecoder& d);
void decode_convert(StatementDecoder& d);
void decode_convert_address(StatementDecoder& d);
void decode_space_test(StatementDecoder& d);
void decode_cache_policy(StatementDecoder& d);

// decode_memory.cpp
Space space_of(const Statement& s);
Scope scope_of(const Statement& s);  ///< .cta and .cluster; else that of the device
/// An address as an instruction has it.
struct Address {
    std::uint32_t operand = 0;
    std::int64_t offset = 0;
    bool wide = false;  ///< the register has 64 bits
    int base = -1;      ///< as InstructionInfo::base
};
/// Reads an address: [a], [a+offset], [variable+offset] or [number]. An access without a space has
/// the space of its variable.
Address address_of(StatementDecoder& d, const Operand& o, Space& space);
/// What loads, stores and atomics have in common.
Emission access_emission(const StatementDecoder& d, MemoryForm& form, const Address& at,
                         MemoryAccess access);
void decode_load(StatementDecoder& d);
void decode_store(StatementDecoder& d);
void decode_atomic(StatementDecoder& d);
AtomicOp atomic_operation(const StatementDecoder& d);
/// Whether the result in memory, or the old value, depends on the order of the blocks.
bool tells_order(AtomicOp op, Type type, bool returns);

// decode_matrices.cpp
void decode_matrix_load(StatementDecoder& d);
void decode_matrix_store(StatementDecoder& d);
void decode_matrix_move(StatementDecoder& d);
void decode_matrix_product(StatementDecoder& d);
void decode_fragment_load(StatementDecoder& d);
void decode_fragment_store(StatementDecoder& d);
void decode_fragment_product(StatementDecoder& d);

// decode_memory.cpp: textures and surfaces
void decode_texture(StatementDecoder& d);
void decode_surface_load(StatementDecoder& d);
void decode_surface_store(StatementDecoder& d);

// decode_async.cpp
void decode_async_copy(StatementDecoder& d);
void decode_bulk_copy(StatementDecoder& d);
void decode_async_group(StatementDecoder& d);
void decode_mbarrier(StatementDecoder& d);
void decode_pending_count(StatementDecoder& d);
void decode_proxy_fence(StatementDecoder& d);

void decode_async_store(StatementDecoder& d);
void decode_tensor_copy(StatementDecoder& d);
void decode_cluster_barrier(StatementDecoder& d);
void decode_map_address(StatementDecoder& d);
void decode_address_rank(StatementDecoder& d);

// decode_control.cpp: what a warp does together
void decode_shuffle(StatementDecoder& d);
void decode_election(StatementDecoder& d);
void decode_vote(StatementDecoder& d);
void decode_match(StatementDecoder& d);
void decode_reduction(StatementDecoder& d);
void decode_active_mask(StatementDecoder& d);
void decode_warp_barrier(StatementDecoder& d);

// decode_control.cpp
void decode_branch(StatementDecoder& d);
void decode_barrier(StatementDecoder& d);
void decode_exit(StatementDecoder& d);
void decode_trap(StatementDecoder& d);
void decode_hint(StatementDecoder& d);
void decode_print(StatementDecoder& d);
void decode_assertion(StatementDecoder& d);

// Emits a comparison (decode_arithmetic.cpp), into a new predicate if `into` is 0.
std::uint32_t emit_comparison(StatementDecoder& d, Comparison comparison, Type type,
                              std::uint32_t into, const Operand& a, const Operand& b);

}  // namespace warpscope::emulator
