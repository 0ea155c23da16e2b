#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "compute/device/device.h"
#include "compute/pick_device.h"
#include "emulator/launcher.h"
#include "emulator/program/error.h"

namespace warpscope::tests {

/// Runs each TEST_P on the emulator, interpreted and compiled, and on the GPU. Skips the GPU if
/// there is none, and compiled kernels if there is no libLLVM.
///   class DotKernel : public OnDevices {};
///   WARPSCOPE_ON_DEVICES(DotKernel);
///   TEST_P(DotKernel, SumsAll) { device().launch(…); }
class OnDevices : public testing::TestWithParam<std::string> {
  protected:
    void SetUp() override {
        if (GetParam() == "cuda" && !has_gpu()) GTEST_SKIP() << "no GPU: " << gpu_reason();
        if (GetParam() == "compiled" && !llvm_error().empty()) GTEST_SKIP() << llvm_error();
        emulator::Launcher::set_execution(GetParam() == "compiled"
                                              ? emulator::Execution::compiled
                                              : emulator::Execution::interpreted);
        device_ = compute::pick_device(GetParam() == "cuda" ? "cuda" : "emulator");
    }
    void TearDown() override { emulator::Launcher::set_execution(emulator::Execution::automatic); }
    compute::Device& device() { return *device_; }

  public:
    static bool has_gpu() { return compute::device_choices().size() > 2; }
    /// Why kernels cannot be compiled; empty if they can.
    static const std::string& llvm_error() {
        static const std::string error = [] {
            return std::string(emulator::Launcher::can_compile() ? "" : "no LLVM is installed");
        }();
        return error;
    }
    static std::string gpu_reason() { return compute::pick_device("auto")->info().reason; }

  private:
    std::unique_ptr<compute::Device> device_;
};

/// Sanitizers do not see into compiled kernels: there the tests of the emulator itself suffice.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline const std::vector<std::string> kinds_of_device = {"emulator", "cuda"};
#else
inline const std::vector<std::string> kinds_of_device = {"emulator", "compiled", "cuda"};
#endif

}  // namespace warpscope::tests

/// For a suite whose device runs in another process, which compiles by its own choice.
#define WARPSCOPE_ON_EMULATOR_AND_GPU(Suite)                                 \
    INSTANTIATE_TEST_SUITE_P(On, Suite, testing::Values("emulator", "cuda"), \
                             [](const auto& info) { return info.param; })

#define WARPSCOPE_ON_DEVICES(Suite)                                                           \
    INSTANTIATE_TEST_SUITE_P(On, Suite, testing::ValuesIn(warpscope::tests::kinds_of_device), \
                             [](const auto& info) { return info.param; })
