#pragma once

#include <string_view>
#include <vector>

#include "compiler/diagnostic.h"

namespace warpscope::launches {

/// A note for each array in shared memory that the code without optimization uses and the optimized
/// code does not: the compiler has removed it, because no result depends on it, and the checks
/// cannot see its accesses. `source` is the name of the source in the line information. Lines of
/// other files are not given. Empty where the emulator can't read one of the two PTX texts.
std::vector<compiler::Diagnostic> removed_arrays(std::string_view optimized,
                                                 std::string_view unoptimized,
                                                 std::string_view source);

}  // namespace warpscope::launches
