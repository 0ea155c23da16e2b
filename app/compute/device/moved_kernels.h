#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace warpscope::compute {

/// A person's text of kernels/`file`.cu may define kernels that Warpscope runs from another kernel
/// file: texts from before ripple.cu was divided do. One sentence for each such other file, which
/// names a kernel and says where it belongs. `ptx` is the compiled text.
std::vector<std::string> moved_kernels(std::string_view file, std::string_view ptx);

}  // namespace warpscope::compute
