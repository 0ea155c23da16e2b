#include <gtest/gtest.h>

#include "compute/libraries/compared_libraries.h"
#include "compute/pick_device.h"
#include "support/devices.h"
#include "support/host_device.h"

namespace warpscope::compute {
namespace {

/// A device in host memory that claims to be a GPU. Every group of launches takes 1 ms.
class HostGpu final : public tests::HostDevice {
  public:
    explicit HostGpu(bool in_helper = false) {
        info_.kind = DeviceKind::cuda;
        info_.in_helper = in_helper;
    }
    void* native_stream() const override { return const_cast<HostGpu*>(this); }

  protected:
    void end_group(std::string_view name, const Work& work) override {
        timings_.record(name, {}, {}, {}, work, 1.0F);
    }
};

const std::vector<float> x{1, 2, 3, 4, 5}, y{10, 20, 30, 40, 50};

TEST(Libraries, CublasReceivesTheStreamAndThePointersOfTheDevice) {
    HostGpu gpu;
    const Buffer<float> a(gpu, x), b(gpu, y), result(gpu, 1);
    const auto cublas = Cublas::load(gpu, FAKE_LIBRARIES);
    ASSERT_NE(cublas, nullptr);
    cublas->dot(a.pointer(), b.pointer(), x.size(), result.pointer());
    EXPECT_EQ(result.download()[0], 550.0F);
    const KernelTiming* timing = gpu.timings().find(Cublas::dot_name);
    ASSERT_NE(timing, nullptr);
    EXPECT_EQ(timing->work.bytes, 40);
}

TEST(Libraries, CubReceivesScratchMemoryOfTheSizeThatItNeeds) {
    HostGpu gpu;
    const Buffer<float> a(gpu, x), result(gpu, 1);
    const auto cub = Cub::load(gpu, FAKE_LIBRARIES);
    ASSERT_NE(cub, nullptr);
    for (const std::size_t n : {x.size(), std::size_t(2)}) {
        cub->sum(a.pointer(), n, result.pointer());
        EXPECT_EQ(result.download()[0], n == 2 ? 3.0F : 15.0F);
    }
    EXPECT_EQ(gpu.timings().find(Cub::sum_name)->launches, 2U);
}

TEST(Libraries, AreNotLoadedForAGpuInAHelperProcess) {
    HostGpu in_helper(true);
    EXPECT_EQ(Cublas::load(in_helper, FAKE_LIBRARIES), nullptr);
    EXPECT_EQ(Cub::load(in_helper, FAKE_LIBRARIES), nullptr);
}

TEST(Libraries, AFailedCallThrowsDeviceError) {
    HostGpu gpu;
    const Buffer<float> a(gpu, x), result(gpu, 1);
    const auto cublas = Cublas::load(gpu, FAKE_LIBRARIES);
    EXPECT_THROW(cublas->dot(a.pointer(), a.pointer(), std::size_t(1) << 31, result.pointer()),
                 DeviceError);
}

TEST(Libraries, AreNotLoadedIfNotInstalledOrOnTheEmulator) {
    HostGpu gpu;
    EXPECT_EQ(Cublas::load(gpu, "no_such_library.so"), nullptr);
    EXPECT_EQ(Cub::load(gpu, "no_such_library.so"), nullptr);
    const auto emulator = pick_device("emulator");
    EXPECT_EQ(Cublas::load(*emulator, FAKE_LIBRARIES), nullptr);
    EXPECT_EQ(Cub::load(*emulator, FAKE_LIBRARIES), nullptr);
}

class TimeAs : public tests::OnDevices {};
WARPSCOPE_ON_DEVICES(TimeAs);

TEST_P(TimeAs, LaunchesInAGroupHaveOneTimeTogether) {
    const auto empty = device().kernel<>("ceilings", "empty");
    const auto three = [&] {
        for (int i = 0; i < 3; ++i) device().launch(empty, {{1}, {32}}, {});
    };
    three();
    for (int i = 0; i < 2; ++i) device().time_as("three", {.flops = 6}, three);
    EXPECT_THROW(device().time_as("thrown", {}, [] { throw DeviceError("on purpose"); }),
                 DeviceError);
    three();
    device().synchronize();
    EXPECT_EQ(device().timings().find("empty")->launches, 6U);
    const KernelTiming* timing = device().timings().find("three");
    ASSERT_NE(timing, nullptr);
    EXPECT_EQ(timing->launches, 2U);
    EXPECT_EQ(timing->work.flops, 6);
    EXPECT_GT(timing->last_ms(), 0);
    EXPECT_EQ(device().timings().find("thrown"), nullptr);
}

}  // namespace
}  // namespace warpscope::compute
