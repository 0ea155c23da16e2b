#pragma once

#include <string>

namespace warpscope::gl {

/// The OpenGL implementation of the current context.
struct GlInfo {
    std::string vendor;     ///< "NVIDIA Corporation", "Mesa"
    std::string renderer;   ///< "NVIDIA H200/PCIe/SSE2", "llvmpipe (LLVM 15.0.6, 256 bits)"
    std::string version;    ///< "3.3.0 NVIDIA 580.65"
    bool software = false;  ///< it draws on the CPU
};

/// Needs a current context.
GlInfo gl_info();

}  // namespace warpscope::gl
