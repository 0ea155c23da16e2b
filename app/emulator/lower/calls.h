#pragma once

#include <cstdint>
#include <set>
#include <string>

#include "emulator/ptx/ptx_syntax.h"

namespace warpscope::emulator {

// Why a trap that no text holds ends the kernel: the modifier of such a trap.
inline constexpr std::string_view stack_trap = "(stack)";
inline constexpr std::string_view callee_trap = "(callee)";
inline constexpr std::string_view target_trap = "(target)";

inline constexpr const char* stack_name = "(stack)";  // the last of the kernel's local variables

// Functions whose address is taken: a pointer may lead to any of them. What stands for the address
// of each; no memory is there.
std::set<std::string> pointed_functions(const ModuleSyntax& module);
std::uint64_t function_address(const ModuleSyntax& module, const std::string& function);

// Leaves a kernel without calls, so that whatever is known of control flow holds for them, too:
// functions are put in where they are called; those that call themselves stand once behind the
// kernel, are jumped to, and keep their frames on a stack in local memory. brx becomes branches.
// Throws Error for a call of what the module does not hold, naming the line.
void expand_calls(KernelSyntax& kernel, const ModuleSyntax& module);

// The .param variables of calls become registers, or local memory where accesses overlap.
void place_call_parameters(KernelSyntax& kernel);

}  // namespace warpscope::emulator
