#pragma once

#include <string_view>

namespace warpscope::compute {

/// The built-in source of a kernel file. `file` is a name as in the line information of PTX,
/// "kernels/ripple.cu"; an unknown name gives an empty text.
std::string_view kernel_source(std::string_view file);

}  // namespace warpscope::compute
