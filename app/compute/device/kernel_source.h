#pragma once

#include <string>
#include <string_view>

namespace warpscope::compute {

/// "kernels/ripple.cu" for the kernel file "ripple": its name in the line information of PTX, in
/// messages and in metadata.
std::string kernel_path(std::string_view file);

/// The kernel file at a kernel_path(): "ripple"; empty for another path.
std::string kernel_file(std::string_view path);

/// The built-in source of the kernel file at a kernel_path(), or the launch file at
/// "kernels/gallery/life.launch.json"; an unknown path gives an empty text.
std::string_view kernel_source(std::string_view path);

}  // namespace warpscope::compute
