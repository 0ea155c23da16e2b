#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "compiler/debug/dwarf.h"

namespace warpscope::compiler {

enum class Typedefs { kept, resolved };

/// Returns the name of a type as the source has it, without its own const and volatile. None is
/// "void". Throws DebugInfoError.
std::string type_name(const DebugInfo& info, std::optional<std::uint64_t> type, Typedefs typedefs);

/// A name of the debug information as people write it: "Vec<int, 2>" for "Vec<int,2>", "float*" for
/// "float *", "Params::(unnamed)" for "_ZN6ParamsUt_E".
std::string readable_name(std::string_view name);

/// The identifiers of a mangled nested name, joined by "::", without unnamed namespaces: "lib::sum"
/// for "_ZN3lib3sumEPf". Empty for other names.
/// Source: Itanium C++ ABI, "Mangling".
std::string nested_name(std::string_view mangled);

}  // namespace warpscope::compiler
