#pragma once

#include <string_view>

namespace warpscope::compute {

/// Text of an embedded kernel file by the name that PTX line information gives it,
/// "kernels/ripple.cu"; empty for an unknown one. The PTX itself: emulator::Module::text().
std::string_view kernel_source(std::string_view file);

}  // namespace warpscope::compute
