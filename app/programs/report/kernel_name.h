#pragma once

#include <string>

namespace warpscope::programs {

/// Returns the name of a kernel in the source, without parameters: "dot" for "_Z3dotPKfS0_Pf",
/// "sum<256>" for a template. Other names stay.
std::string kernel_name(const std::string& symbol);
/// Returns the line with that name where it first names the symbol.
std::string with_kernel_name(std::string line, const std::string& symbol);

}  // namespace warpscope::programs
