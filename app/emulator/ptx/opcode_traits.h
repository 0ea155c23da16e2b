#pragma once

#include <string_view>

#include "emulator/ptx/ptx_syntax.h"

namespace warpscope::emulator {

/// Opcodes of inserted statements: calls of functions that the CUDA compiler provides. No PTX text
/// can hold them.
inline constexpr std::string_view print_opcode = "(vprintf)";  ///< d, format, arguments
inline constexpr std::string_view assert_opcode =
    "(assertfail)";  ///< message, file, line, function

// What the analyses must know of a statement before it is decoded.
enum class Effect : std::uint8_t {
    pure,      // the value depends on the source operands alone
    load,      // the value depends on when it is read: memory, clocks
    per_lane,  // the value differs between lanes whatever the operands
    none       // no value: stores, branches, barriers
};

Effect effect_of(const Statement& statement);

// The registers that a statement writes and reads; a guard is read, and so is the destination of a
// guarded statement, which may keep its value.
std::vector<std::int32_t> destinations_of(const Statement& statement);
std::vector<std::int32_t> sources_of(const Statement& statement);

bool ends_block(const Statement& statement);  // bra, brx, ret, exit, trap
bool is_exit(const Statement& statement);     // ret, exit
bool is_barrier(const Statement& statement);  // of a block, not of a warp
bool uses_carry(const Statement& s);          // add.cc, addc, …: the condition code register
bool waits_for_threads(const Statement& s);   // a barrier, or a warp-wide exchange
// An atomic or a volatile, relaxed or acquire load: others may be waited for with it.
bool reads_what_others_write(const Statement& statement);

// Number of leading operands that are destinations.
unsigned destination_count(const Statement& statement);

}  // namespace warpscope::emulator
