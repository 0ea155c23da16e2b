#pragma once

#include <string>
#include <string_view>

#include "compute/device/device.h"

namespace warpscope::compute {

/// A built-in image of a kernel file: "precise/dot.ptx" and "fast/gallery/life.ptx" are the
/// committed texts in kernels/ptx/; "precise/dot.fatbin" is the toolkit's output for GPUs, only in
/// builds with CUDA. Empty for an unknown name.
std::string_view embedded_kernel_image(std::string_view name);

/// The PTX of kernels/`file`.cu with this math. Throws DeviceError if the app has none.
std::string_view kernel_ptx(std::string_view file, Math math);

/// The machine code of kernels/`file`.cu for GPUs; empty in a build without nvcc.
std::string_view kernel_binary(std::string_view file, Math math);

}  // namespace warpscope::compute
