#pragma once

#include <cstdint>

#include "emulator/program/ptx_type.h"

namespace warpscope::emulator {

struct Instruction;
class Warp;
enum class Operation : std::uint8_t;  // emulator/ptx/opcodes.h

/// Executes one instruction for the current split of a warp. Returns the next instruction, or
/// nullptr when the split cannot continue in this turn.
using Handler = const Instruction* (*)(const Instruction*, Warp&);

/// What an instruction means for the control flow of its warp.
enum class Role : std::uint8_t {
    operation,      ///< computes, or accesses memory; the warp continues behind it
    guard,          ///< prefix @p: the next instruction runs for the lanes where p holds
    guard_not,      ///< prefix @!p
    float_mode,     ///< prefix: the next instruction has its own rounding or flushing
    turnstile,      ///< prefix: other blocks of the grid see the next instruction happen
    branch,         ///< to Instruction::target, for all lanes
    branch_if,      ///< for the lanes where operand 0 holds
    branch_unless,  ///< for the lanes where operand 0 does not hold
    join,           ///< where diverged lanes reconverge
    exit,
    block_barrier,  ///< see BarrierKind
    warp_barrier
};

/// A prefix changes how the instruction behind it runs.
constexpr bool is_prefix(Role role) {
    return role == Role::guard || role == Role::guard_not || role == Role::float_mode ||
           role == Role::turnstile;
}
constexpr bool is_guard(Role role) {
    return role == Role::guard || role == Role::guard_not;
}
constexpr bool is_branch(Role role) {
    return role == Role::branch || role == Role::branch_if || role == Role::branch_unless;
}

/// Instruction::detail of a block barrier. The last three reduce a predicate over the block.
enum class BarrierKind : std::uint16_t { sync, arrive, popc, all, any };

/// An operand of an Instruction is the byte offset of a slot in the warp's register file. A uniform
/// slot holds one 8-byte value for the whole warp, a vector slot one value for each of 32 lanes.
/// Offsets are even: the lowest bit is set for a uniform slot. Immediates lie in uniform slots.
constexpr std::uint32_t uniform_operand = 1;

constexpr bool is_uniform(std::uint32_t operand) {
    return operand & uniform_operand;
}
constexpr std::uint32_t slot_offset(std::uint32_t operand) {
    return operand & ~uniform_operand;
}

/// A decoded instruction: one cache line. Its text and source line are in Kernel::lines.
struct alignas(64) Instruction {
    enum Mode : std::uint32_t { full, masked };
    /// The events of an instruction that an observer can be told about. A prefix has the events of
    /// the instruction that it changes.
    enum Event : std::uint8_t {
        executes = 1,
        shared_access = 2,  ///< a generic access has this and global_access
        global_access = 4,
        warp_sync = 8,
        guards = 16,          ///< a prefix: the events are those of the next instruction
        uniform_shared = 32,  ///< beside shared_access: all lanes have one 32-bit address
        reports_itself =
            64,  ///< the handler for all lanes is compiled code, which sends the events
        fences = 128
    };

    /// Modifiers that change the result. Others are in `detail`, in `target` or in a prefix.
    enum Modifier : std::uint8_t { saturates = 1, flushes = 2 };  // .sat, .ftz

    Handler handlers[2];        ///< indexed by Mode: for all lanes; for the lanes of the mask
    std::uint32_t operands[6];  ///< destinations first, then sources, as in the PTX text
    std::int64_t immediate;     ///< address offset, or another constant that the handler needs
    /// A branch's distance to its target in instructions, or a memory access's AccessForm.
    std::uint32_t target;
    std::uint16_t cost;  ///< at a cost point: PTX instructions since the previous cost point
    std::uint16_t detail;
    std::uint8_t events;
    Role role;
    Operation operation;     ///< its row of the opcode table has the operands' roles
    Type type;               ///< the first type modifier
    Type second_type;        ///< the second one, such as that of cvt's source
    std::uint8_t modifiers;  ///< a set of Modifier
    std::uint16_t entry;     ///< where compiled code begins here: the number of this place
};

static_assert(sizeof(Instruction) == 64);

}  // namespace warpscope::emulator
