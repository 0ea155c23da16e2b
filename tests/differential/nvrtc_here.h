#pragma once

#include <memory>

#include "compiler/nvrtc.h"

namespace warpscope::tests {

/// Null where NVRTC is not installed.
inline const compiler::Nvrtc* nvrtc_here() {
    static const std::unique_ptr<compiler::Nvrtc> found = [] {
        try {
            return std::make_unique<compiler::Nvrtc>();
        } catch (const compiler::NoCompiler&) {
            return std::unique_ptr<compiler::Nvrtc>();
        }
    }();
    return found.get();
}

}  // namespace warpscope::tests
