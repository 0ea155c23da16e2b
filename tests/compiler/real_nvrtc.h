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
    std::optional<Nvrtc> nvrtc_;
};

}  // namespace warpscope::compiler
