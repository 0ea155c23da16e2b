#pragma once

#include "emulator/ptx/ptx_lexer.h"
#include "emulator/ptx/ptx_syntax.h"

namespace warpscope::emulator {

/// Parses the body of a kernel or function, braces included.
void parse_body(Lexer& lexer, KernelSyntax& kernel);

}  // namespace warpscope::emulator
