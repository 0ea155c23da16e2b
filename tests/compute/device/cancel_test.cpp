#include <gtest/gtest.h>

#include <limits>
#include <thread>

#include "compute/emulated/emulated_device.h"
#include "compute/helper/hostile_ptx.h"
#include "support/devices.h"

namespace warpscope::compute {
namespace {

using tests::hostile_ptx;
using Words = DevicePointer<std::uint32_t>;

std::stop_token stopped() {
    std::stop_source source;
    source.request_stop();
    return source.get_token();
}

class Cancel : public tests::OnDevices {
  protected:
    void count() {
        device().launch(device().kernel_from_ptx<Words>(hostile_ptx, "count"), {{1}, {32}}, {},
                        out_->pointer());
    }
    void SetUp() override {
        OnDevices::SetUp();
        if (IsSkipped()) return;
        out_.emplace(device(), 32);
        out_->fill(0);
    }
    void TearDown() override { out_.reset(); }
    std::optional<Buffer<std::uint32_t>> out_;
};
WARPSCOPE_ON_DEVICES(Cancel);

TEST_P(Cancel, AStopRequestRefusesLaunchesUntilThereAreOtherLimits) {
    device().set_launch_limits({.stop = stopped()});
    EXPECT_THROW(count(), Cancelled);
    EXPECT_THROW(device().time_as("group", {}, [] { FAIL() << "it must not be called"; }),
                 Cancelled);
    EXPECT_EQ(out_->download()[31], 0U) << "copies are not refused";
    device().set_launch_limits({});
    count();
    EXPECT_EQ(out_->download()[31], 1U);
    EXPECT_EQ(device().timings().find("count")->launches, 1U);
}

TEST_P(Cancel, TheMessageNamesTheKernel) {
    device().set_launch_limits({.stop = stopped()});
    try {
        count();
        FAIL() << "it was not refused";
    } catch (const Cancelled& cancelled) {
        EXPECT_STREQ(cancelled.what(), "count was stopped before its end");
    }
}

TEST_P(Cancel, AStopWithinAGroupLeavesTheDeviceUsable) {
    std::stop_source source;
    device().set_launch_limits({.stop = source.get_token()});
    EXPECT_THROW(device().time_as("group", {},
                                  [&] {
                                      count();
                                      source.request_stop();
                                      count();
                                  }),
                 Cancelled);
    EXPECT_EQ(device().timings().find("group"), nullptr);
    device().set_launch_limits({});
    device().time_as("group", {}, [&] { count(); });
    device().synchronize();
    EXPECT_EQ(out_->download()[0], 2U);
    EXPECT_EQ(device().timings().find("group")->launches, 1U);
}

TEST_P(Cancel, ProgressCountsTheLaunches) {
    const auto progress = std::make_shared<LaunchProgress>();
    device().set_progress(progress);
    count();
    count();
    const bool gpu = device().info().kind == DeviceKind::cuda;
    const std::uint64_t blocks = gpu ? 0 : 1;
    EXPECT_EQ(progress->now(), (LaunchProgress::Reading{2, blocks, blocks}));
    device().set_progress(nullptr);
    count();
    EXPECT_EQ(progress->now().launch, 2U);
}

TEST(EmulatedDeviceCancel, AStopEndsALaunchThatWouldRunForHours) {
    EmulatedDevice device("", 1 << 20);
    const auto progress = std::make_shared<LaunchProgress>();
    std::stop_source source;
    device.set_progress(progress);
    device.set_launch_limits({.stop = source.get_token()});
    const auto spin = device.kernel_from_ptx<std::uint64_t>(hostile_ptx, "spin");
    std::jthread stopper([&] {
        while (progress->now().launch == 0) std::this_thread::yield();
        source.request_stop();
    });
    EXPECT_THROW(device.launch(spin, {{100}, {32}}, {}, ~std::uint64_t(0)), Cancelled);
    EXPECT_EQ(device.timings().find("spin"), nullptr);
    device.set_launch_limits({});
    device.launch(spin, {{100}, {32}}, {}, std::uint64_t(1));
    EXPECT_EQ(progress->now(), (LaunchProgress::Reading{2, 100, 100}));
}

/// The launch that `queue` makes, as the emulator would run it.
template <class Queue>
emulator::LaunchSettings settings_of(EmulatedDevice& device, Queue queue) {
    return device.freeze_last(queue).settings;
}

TEST(EmulatedDeviceBudget, OnlyKernelsThatAreNotBuiltInHaveOne) {
    using Floats = DevicePointer<float>;
    constexpr auto none = std::numeric_limits<std::uint64_t>::max();
    EmulatedDevice device("", 1 << 20);
    const auto budget = [&] {
        const auto dot = device.kernel<Floats, Floats, Floats, unsigned>("dot", "dot_book");
        return settings_of(
                   device,
                   [&] {
                       device.launch(dot, {{1}, {32}}, {}, Floats{}, Floats{}, Floats{}, 0U);
                   })
            .instruction_budget;
    };
    EXPECT_EQ(budget(), none);
    auto edit = std::make_shared<KernelEdit>();
    edit->file = "dot";
    edit->ptx = R"(.version 6.4
.target sm_75
.address_size 64
.visible .entry dot_book(.param .u64 a, .param .u64 b, .param .u64 c, .param .u32 n) { ret; }
)";
    device.set_edits({{"dot", edit}});
    EXPECT_EQ(budget(), 20'000'000'000U);
    const auto spin = device.kernel_from_ptx<std::uint64_t>(hostile_ptx, "spin");
    EXPECT_EQ(settings_of(device,
                          [&] {
                              device.launch(spin, {{1}, {32}}, {}, std::uint64_t(1));
                          })
                  .instruction_budget,
              20'000'000'000U);
}

}  // namespace
}  // namespace warpscope::compute
