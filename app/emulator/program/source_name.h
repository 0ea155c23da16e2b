#pragma once

#include <string>

namespace warpscope::emulator {

/// Returns the name of a variable in the source, without namespaces and functions around it: "tile"
/// for _ZZ4drawPjiifibE4tile, which is draw(unsigned int*, …)::tile.
std::string source_name(const std::string& ptx_name);

/// Returns the name of a function likewise, without its parameters: "fib" for _Z3fibi.
std::string function_name(const std::string& ptx_name);

}  // namespace warpscope::emulator
