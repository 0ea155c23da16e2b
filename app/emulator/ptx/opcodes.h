#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "emulator/program/instruction.h"
#include "emulator/program/ptx_type.h"

namespace warpscope::emulator {

/// The operations that opcodes.def lists. `unknown` is the operation of any other opcode.
enum class Operation : std::uint8_t {
#define OPCODE(operation, spelling, modifiers, types, operands, kind, grammar) operation,
#include "emulator/ptx/opcodes.def"
#undef OPCODE
    unknown
};

/// What an opcode means for control flow, other threads and memory.
enum class OpcodeKind : std::uint8_t {
    computes,  ///< the result depends on the source operands alone
    carries,   ///< reads or writes the condition code register
    loads,
    stores,
    updates_memory,     ///< atom, red
    reads_image,        ///< tex, suld
    writes_image,       ///< sust
    exchanges,          ///< lanes of a warp read each other's operands: shfl, vote
    reads_warp,         ///< the result depends on which lanes are active
    warp_barrier,       ///< threads of a warp wait for each other
    block_barrier,      ///< threads of a block wait for each other
    cluster_barrier,    ///< threads of a cluster wait for each other
    branches,           ///< bra
    branches_by_index,  ///< brx.idx
    calls,
    exits,  ///< ret, exit
    traps,
    prints,
    asserts,
    asynchronous,  ///< asynchronous copies, and the mbarriers that count them
    hints,         ///< changes no result: fences, prefetches
    unknown
};

/// Which function of the decode folder decodes an opcode.
enum class Grammar : std::uint8_t {
    arithmetic,
    pair,
    extremum,
    dot_product,
    absolute_difference,
    carry,
    test,
    compare,
    set,
    select,
    truth_table,
    move,
    convert,
    convert_address,
    space_test,
    load,
    store,
    atomic,
    cache_policy,
    shuffle,
    election,
    vote,
    match,
    reduction,
    active_mask,
    barrier,
    barrier_of_warp,
    branch,
    exit,
    trap,
    hint,
    print,
    assertion,
    matrix_load,
    matrix_store,
    matrix_move,
    matrix_product,
    fragment_load,
    fragment_store,
    fragment_product,
    texture,
    surface_load,
    surface_store,
    async_copy,
    bulk_copy,
    async_group,
    mbarrier,
    pending_count,
    proxy_fence,
    async_store,
    tensor_copy,
    cluster_barrier,
    map_address,
    address_rank,
    expanded,  ///< none: emulator/lower replaces it
    unknown
};

/// The type modifiers of an opcode: how many, and of what kind the first is.
enum class TypeList : std::uint8_t {
    none,
    optional,  ///< none or one
    integer,   ///< one: .b8 to .s64
    real,      ///< one: .f16 to .f64, .f16x2, .bf16, .bf16x2, .tf32
    any,       ///< one
    two,
    three,
    four
};

/// One operand as the table writes it.
struct OperandRole {
    /// The type of the value: the instruction's (its first type modifier), twice as wide, or `own`.
    enum class Value : std::uint8_t { of_instruction, wide, own };
    Value value = Value::of_instruction;
    Type own = Type::b32;
    bool is_destination = false;
    bool may_be_sink = false;  ///< may be _
    bool is_optional = false;
};

struct OperandRoles {
    std::array<OperandRole, 6> roles;
    std::uint8_t count = 0;
    std::uint8_t least = 0;  ///< without the optional ones
    bool any = false;        ///< "*": the table says nothing about them

    std::uint8_t destinations() const { return count > 0 && roles[0].is_destination ? 1 : 0; }
};

/// A row of the table opcodes.def.
struct Opcode {
    Operation operation = Operation::unknown;
    std::string_view spelling;   ///< "mul.lo"
    std::string_view modifiers;  ///< ".ftz .sat"
    TypeList types = TypeList::none;
    OperandRoles operands;
    OpcodeKind kind = OpcodeKind::unknown;
    Grammar grammar = Grammar::unknown;

    /// Whether this spelling has a word between its dots, or may have it as a modifier.
    bool permits(std::string_view modifier) const;
};

/// All rows, by Operation; the last one is that of Operation::unknown.
std::span<const Opcode> opcode_table();
const Opcode& opcode_of(Operation operation);

/// The row for an opcode ("mul") with its modifiers ("lo", "s32"). The row of Operation::unknown
/// where there is none: see why_unknown().
const Opcode& find_opcode(std::string_view name, const std::vector<std::string>& modifiers);

/// Why the emulator does not execute a form of an opcode that it knows; empty: it may.
std::string_view why_refused(std::string_view name, const std::vector<std::string>& modifiers);

/// Why find_opcode() finds no row, for an error message.
std::string why_unknown(std::string_view name, const std::vector<std::string>& modifiers);

/// The type that is twice as wide as an integer type, as mul.wide and mad.wide have it.
Type wide_type(Type type);

/// mbarrier.init to mbarrier.try_wait.parity: instructions that access an mbarrier object.
constexpr bool uses_mbarrier(Operation operation) {
    return operation >= Operation::mbarrier_init && operation <= Operation::mbarrier_wait_parity;
}

/// Copies that join what they copy with what is at their destination.
constexpr bool reduces_by_copy(Operation operation) {
    return operation == Operation::cp_bulk_reduce || operation == Operation::cp_tensor_reduce ||
           operation == Operation::red_async;
}

/// Some operands are in Kernel::further_operands.
constexpr bool has_further_operands(Operation operation) {
    return operation == Operation::mma || operation == Operation::wmma_mma ||
           operation == Operation::cp_tensor || operation == Operation::cp_tensor_reduce;
}

/// tex, suld and sust: Instruction::target holds an TextureForm.
constexpr bool accesses_image(Operation operation) {
    return operation >= Operation::tex && operation <= Operation::sust;
}

}  // namespace warpscope::emulator
