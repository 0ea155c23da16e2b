#pragma once

#include <vector>

#include "emulator/ptx/ptx_lexer.h"
#include "emulator/ptx/ptx_syntax.h"

namespace warpscope::emulator {

/// Parses the number behind .align.
std::uint32_t parse_alignment(Lexer& lexer);
/// Parses the rest of a statement that declares variables, behind .global, .shared or another state
/// space. `external`: it began with .extern.
void parse_variables(Lexer& lexer, Space space, bool external, std::vector<Variable>& into);

}  // namespace warpscope::emulator
