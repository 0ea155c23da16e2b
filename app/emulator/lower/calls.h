#pragma once

#include <cstdint>
#include <set>
#include <string>

#include "emulator/ptx/ptx_syntax.h"

namespace warpscope::emulator {

inline constexpr const char* stack_name = "(stack)";  ///< the kernel's last local variable

/// Returns the functions whose address is taken. A pointer may point to any of them.
std::set<std::string> pointed_functions(const ModuleSyntax& module);
/// Returns the value of a pointer to the function. No memory is at this address.
std::uint64_t function_address(const ModuleSyntax& module, const std::string& function);

/// Inlines every call, so that the analyses of control flow see one body. A recursive function has
/// one copy behind the kernel's body, which calls jump to; its frames are on a stack in local
/// memory. brx.idx becomes comparisons and branches. Throws Error for a call of a function that the
/// module does not define; its text names the line.
void expand_calls(KernelSyntax& kernel, const ModuleSyntax& module);

}  // namespace warpscope::emulator
