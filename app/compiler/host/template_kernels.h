#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace warpscope::compiler {

/// "reduce" of "lib::reduce<256, float>": without namespaces and arguments.
std::string_view template_name(std::string_view name_expression);

/// A name expression for each template of a kernel in a source, in their order: "reduce<float,
/// 16>". The arguments are `float` for a type, `true` for a bool and 16 for another number.
std::vector<std::string> template_kernels(std::string_view source);

}  // namespace warpscope::compiler
