#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "emulator/decode/emitter.h"
#include "emulator/decode/operands.h"
#include "emulator/handlers/handlers.h"

namespace warpscope::emulator {

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

/// Decodes a statement by its Grammar.
void decode_statement(StatementDecoder& d);

// The following functions decode one Grammar each. They are grouped by the file that defines them.

// decode_arithmetic.cpp
void decode_arithmetic(StatementDecoder& d);
void decode_extremum(StatementDecoder& d);
void decode_carry(StatementDecoder& d);
void decode_dot_product(StatementDecoder& d);
void decode_absolute_difference(StatementDecoder& d);
void decode_truth_table(StatementDecoder& d);

// decode_compare.cpp
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

// decode_texture.cpp
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

// decode_warp.cpp
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

// Emits a comparison (decode_compare.cpp), into a new predicate if `into` is 0.
std::uint32_t emit_comparison(StatementDecoder& d, Comparison comparison, Type type,
                              std::uint32_t into, const Operand& a, const Operand& b);

}  // namespace warpscope::emulator
