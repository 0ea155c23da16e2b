#pragma once

#include <string>

namespace warpscope::emulator {

/// Returns the name of a variable in the source, without namespaces and functions around it: "tile"
/// for _ZZ4drawPjiifibE4tile, which is draw(unsigned int*, …)::tile.
std::string source_name(const std::string& ptx_name);

/// Returns the name of a function likewise, without its parameters: "fib" for _Z3fibi.
std::string function_name(const std::string& ptx_name);

/// Returns the name of a kernel in the source, without parameters: "dot" for "_Z3dotPKfS0_Pf",
/// "sum<256>" for a template. Other names stay.
std::string kernel_name(const std::string& symbol);
/// Returns the line with that name where it first names the symbol.
std::string with_kernel_name(std::string line, const std::string& symbol);

}  // namespace warpscope::emulator
