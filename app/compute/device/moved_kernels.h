#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace warpscope::compute {

/// Explains a person's text of kernels/`file`.cu that defines kernels which Warpscope runs from
/// another kernel file, as texts do that are older than the division of ripple.cu. Returns one
/// sentence for each such other file, which names a kernel and says where it belongs. `ptx` is the
/// compiled text.
std::vector<std::string> moved_kernels(std::string_view file, std::string_view ptx);

}  // namespace warpscope::compute
