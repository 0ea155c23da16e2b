#pragma once

#include <string>
#include <string_view>
#include <unordered_map>

namespace warpscope::compiler {

/// The bytes of the sections of a PTX text by their names, such as ".debug_info". A label of a
/// section stands for its offset in that section, a label of code stands for 0. Throws
/// DebugInfoError. Source: PTX ISA "Debugging Directives: .section".
std::unordered_map<std::string, std::string> debug_sections(std::string_view ptx);

}  // namespace warpscope::compiler
