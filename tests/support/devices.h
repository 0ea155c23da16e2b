#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "compute/device/device.h"
#include "compute/pick_device.h"

namespace warpscope::tests {

/// Runs each TEST_P on the emulator and on the GPU. Skips the GPU if there is none.
///   class DotKernel : public OnDevices {};
///   WARPSCOPE_ON_DEVICES(DotKernel);
///   TEST_P(DotKernel, SumsAll) { device().launch(…); }
class OnDevices : public testing::TestWithParam<std::string> {
  protected:
    void SetUp() override {
        if (GetParam() == "cuda" && !has_gpu()) GTEST_SKIP() << "no GPU: " << gpu_reason();
        device_ = compute::pick_device(GetParam());
    }
    compute::Device& device() { return *device_; }

    static bool has_gpu() { return compute::device_choices().size() > 2; }
    static std::string gpu_reason() { return compute::pick_device("auto")->info().reason; }

  private:
    std::unique_ptr<compute::Device> device_;
};

}  // namespace warpscope::tests

#define WARPSCOPE_ON_DEVICES(Suite)                                          \
    INSTANTIATE_TEST_SUITE_P(On, Suite, testing::Values("emulator", "cuda"), \
                             [](const auto& info) { return info.param; })
