#pragma once

#include <gtest/gtest.h>

#include <optional>

#include "compiler/nvrtc.h"

namespace warpscope::compiler {

/// The NVRTC of this machine; skipped if there is none.
class RealNvrtc : public testing::Test {
  public:
    void SetUp() override {
        try {
            nvrtc_.emplace();
        } catch (const NoCompiler& error) {
            GTEST_SKIP() << error.what();
        }
    }
    /// NVRTC of CUDA 11 prints no columns, and writes mangled names of templates.
    bool is_of_cuda_11() const { return nvrtc_->version().starts_with("11."); }

    std::optional<Nvrtc> nvrtc_;
};

}  // namespace warpscope::compiler
