#include "compute/device/device.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>
#include <numeric>

#include "compute/helper/hostile_ptx.h"
#include "compute/pick_device.h"
#include "support/devices.h"

namespace warpscope::compute {
namespace {

class AnyDevice : public tests::OnDevices {};
WARPSCOPE_ON_DEVICES(AnyDevice);

TEST_P(AnyDevice, InfoHasKindNameAndReason) {
    EXPECT_FALSE(device().info().name.empty());
    EXPECT_FALSE(device().info().reason.empty());
    EXPECT_GT(device().info().multiprocessors, 0);
    EXPECT_GT(device().info().memory_bytes, std::size_t(1) << 28);
}

TEST_P(AnyDevice, OnlyAGpuHasAPciBusId) {
    const bool gpu = device().info().kind == DeviceKind::cuda;
    EXPECT_EQ(device().info().pci_bus_id.empty(), !gpu);
    EXPECT_EQ(device().info().compute_capability >= 75, gpu);
    EXPECT_EQ(device().info().cache_bytes > 0, gpu);
}

TEST_P(AnyDevice, BuffersReturnTheUploadedValues) {
    for (std::size_t count : {1, 31, 4097}) {
        std::vector<float> values(count);
        std::iota(values.begin(), values.end(), 0.5f);
        Buffer<float> buffer(device(), values);
        EXPECT_EQ(buffer.download(), values);
        buffer.fill(0);
        EXPECT_EQ(buffer.download(), std::vector<float>(count, 0.0f));
        const Buffer<float> other(device(), values);
        device().copy(buffer.pointer().address, other.pointer().address, count * sizeof(float));
        EXPECT_EQ(buffer.download(), values);
    }
}

TEST_P(AnyDevice, AMovedBufferKeepsItsMemory) {
    Buffer<int> a(device(), std::vector<int>{1, 2, 3});
    Buffer<int> b;
    b = std::move(a);
    EXPECT_EQ(b.download(), (std::vector<int>{1, 2, 3}));
}

TEST_P(AnyDevice, AnAllocationThatIsTooLargeThrowsOutOfMemory) {
    try {
        device().allocate(std::size_t(1) << 50);
        FAIL() << "a pebibyte was allocated";
    } catch (const DeviceError& error) {
        EXPECT_NE(std::string(error.what()).find("choose a smaller size"), std::string::npos)
            << error.what();
    }
}

TEST_P(AnyDevice, AnUnknownKernelIsNamedInTheError) {
    EXPECT_THROW(device().kernel<int>("dot", "no_such_kernel"), DeviceError);
    EXPECT_THROW(device().kernel<int>("no_such_file", "dot_book"), DeviceError);
}

TEST_P(AnyDevice, ArgumentSizesAreChecked) {
    EXPECT_THROW(device().kernel<char>("dot", "dot_book"), DeviceError);
}

TEST_P(AnyDevice, TheNumberOfArgumentsIsChecked) {
    using Floats = DevicePointer<float>;
    EXPECT_NO_THROW((device().kernel<Floats, Floats, Floats, unsigned>("dot", "dot_book")));
    EXPECT_THROW((device().kernel<Floats, Floats, Floats>("dot", "dot_book")), DeviceError);
    EXPECT_THROW((device().kernel<Floats, Floats, Floats, unsigned, int>("dot", "dot_book")),
                 DeviceError);
}

/// Makes every later call of its process fail. True if each of them throws DeviceLost and release()
/// does not throw.
bool loses_the_gpu() {
    const auto device = pick_device("cuda");
    Buffer<std::uint32_t> held(*device, 4);
    const auto wild = device->kernel_from_ptx<std::uint64_t>(tests::hostile_ptx, "wild_global");
    device->launch(wild, {{1}, {32}}, {}, std::uint64_t(16));
    int losses = 0;
    for (const auto& call : std::initializer_list<std::function<void()>>{
             [&] { device->synchronize(); }, [&] { held.fill(0); }, [&] { held.download(); },
             [&] { device->allocate(4); }, [] { pick_device("cuda"); }}) {
        try {
            call();
        } catch (const DeviceLost& error) {
            const std::string words = error.what();
            losses += words.find("kernel wild_global") != std::string::npos || losses == 4;
        }
    }
    return losses == 5;
}

// In another process, which runs this test up to here.
TEST(CudaDevice, AFatalErrorThrowsDeviceLostWithTheNameOfTheKernel_cuda) {
    if (device_choices().size() <= 2) GTEST_SKIP() << "no GPU";
    testing::FLAGS_gtest_death_test_style = "threadsafe";
    EXPECT_EXIT(std::_Exit(loses_the_gpu() ? 0 : 1), testing::ExitedWithCode(0), "");
}

std::string error_of(std::string_view wish) {
    try {
        pick_device(wish);
    } catch (const std::exception& error) {
        return error.what();
    }
    return {};
}

TEST(PickDevice, RefusesUnknownNames) {
    EXPECT_THROW(pick_device("gpu"), std::invalid_argument);
    EXPECT_THROW(pick_device("cuda:"), std::invalid_argument);
    EXPECT_THROW(pick_device("cuda:x"), std::invalid_argument);
    EXPECT_THROW(pick_device("cuda:-1"), std::invalid_argument);
    EXPECT_NE(error_of("gpu").find("auto, cuda, cuda:N or emulator"), std::string::npos);
}

TEST(PickDevice, AMissingGpuThrowsDeviceError) {
    EXPECT_THROW(pick_device("cuda:999"), DeviceError);
}

TEST(PickDevice, AutoAlwaysFindsADevice) {
    const auto device = pick_device("auto");
    const bool has_gpu = device_choices().size() > 2;
    EXPECT_EQ(device->info().kind, has_gpu ? DeviceKind::cuda : DeviceKind::emulator);
}

TEST(PickDevice, EveryChoiceCanBePicked) {
    for (const std::string& choice : device_choices()) EXPECT_EQ(error_of(choice), "") << choice;
}

}  // namespace
}  // namespace warpscope::compute
