#pragma once

#include "emulator/fast_paths/compiled/generate/addresses.h"

namespace warpscope::emulator {

struct LateCode;

/// Writes the code by which the interpreter enters a function: it finds out at which unit, checks
/// the addresses that the unit relies on, and fills the variables that are live there. It goes on
/// where the function's first block ends.
void write_entries(FunctionContext& context, const Part& part, Slots& slots, Addresses& addresses,
                   Exits& exits);
/// Writes the rest of a function that goes to late code, or to the kernel's own handlers.
void write_call_of(LateCode& late, const FunctionContext& context);

}  // namespace warpscope::emulator
