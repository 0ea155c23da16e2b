#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <optional>
#include <set>
#include <thread>

#include "compute/helper/helper_device.h"
#include "compute/pick_device.h"
#include "hostile_ptx.h"
#include "processes.h"
#include "support/add_kernel.h"
#include "support/devices.h"

namespace warpscope::compute {
namespace {

using namespace std::chrono_literals;
using tests::has_ended, tests::hostile_ptx;
using Words = DevicePointer<std::uint32_t>;

constexpr std::uint64_t for_ever = ~std::uint64_t(0);

bool ends_soon(pid_t id) {
    return tests::soon([&] { return has_ended(id); });
}

/// The message of the DeviceLost that a call throws; empty if it throws none.
template <class Call>
std::string message_of_loss(Call call) {
    try {
        call();
    } catch (const DeviceLost& error) {
        return error.what();
    }
    return {};
}

template <class Call>
std::string message_of_ordinary_error(Call call) {
    try {
        call();
    } catch (const DeviceError& error) {
        EXPECT_EQ(dynamic_cast<const DeviceLost*>(&error), nullptr) << error.what();
        return error.what();
    }
    return {};
}

#define EXPECT_HAS(text, part) EXPECT_NE((text).find(part), std::string::npos) << (text)

/// A device in a helper process: the emulator, or the GPU where there is one.
struct InHelper {
    pid_t id = -1;
    std::unique_ptr<Device> device;

    explicit InHelper(const std::string& wish) {
        auto process = std::make_unique<HelperProcess>(WARPSCOPE);
        id = process->id();
        ask_for_device(*process, wish);
        DeviceInfo info = opened_device(*process, {60s, {}});
        device = make_helper_device(std::move(process), std::move(info));
    }
    void spin(std::uint64_t rounds) {
        if (!spins) spins = device->kernel_from_ptx<std::uint64_t>(hostile_ptx, "spin");
        device->launch(*spins, {{1}, {32}}, {}, rounds);
    }
    /// Acts once the launch that follows is running.
    template <class Act>
    std::jthread during_the_next_launch(Act act) {
        spin(1);  // loads the kernel
        return std::jthread([act, id = id, ticks = tests::ticks_of(id)] {
            EXPECT_TRUE(tests::computes_soon(id, ticks));
            act();
        });
    }

    std::optional<Kernel<std::uint64_t>> spins;
};

class HelperDeviceTest : public tests::OnDevices {
  protected:
    bool gpu() { return GetParam() == "cuda"; }
};
WARPSCOPE_ON_EMULATOR_AND_GPU(HelperDeviceTest);

TEST_P(HelperDeviceTest, TheInfoIsThatOfTheDeviceInThisProcess) {
    const InHelper in_helper(GetParam());
    const DeviceInfo& info = in_helper.device->info();
    EXPECT_TRUE(info.in_helper);
    EXPECT_EQ(info.kind, device().info().kind);
    EXPECT_EQ(info.name, device().info().name);
    EXPECT_EQ(info.memory_bytes, device().info().memory_bytes);
    EXPECT_EQ(info.max_shared_bytes, device().info().max_shared_bytes);
    EXPECT_EQ(info.pci_bus_id, device().info().pci_bus_id);
    EXPECT_EQ(in_helper.device->native_stream(), nullptr);
    EXPECT_NE(in_helper.id, ::getpid());
}

TEST_P(HelperDeviceTest, RunsAHundredLaunchesAndTimesEach) {
    InHelper in_helper(GetParam());
    const auto count = in_helper.device->kernel_from_ptx<Words>(hostile_ptx, "count");
    Buffer<std::uint32_t> out(*in_helper.device, 64);
    out.fill(0);
    for (int i = 0; i < 100; ++i)
        in_helper.device->launch(count, {{1}, {64}}, {.bytes = 512}, out.pointer());
    EXPECT_EQ(out.download(), std::vector<std::uint32_t>(64, 100));
    const KernelTiming* timing = in_helper.device->timings().find("count");
    ASSERT_NE(timing, nullptr);
    EXPECT_EQ(timing->launches, 100U);
    EXPECT_EQ(timing->block, (Dim3{64}));
    EXPECT_EQ(timing->work, (Work{.bytes = 512}));
    EXPECT_GT(timing->median_ms(), 0.0F);
}

TEST_P(HelperDeviceTest, RunsBuiltInKernelsAndReportsWhatABlockNeeds) {
    InHelper in_helper(GetParam());
    using Floats = DevicePointer<float>;
    const auto kernel =
        in_helper.device->kernel<Floats, Floats, Floats, unsigned>("dot", "dot_book");
    const std::vector<float> ones(256, 1.0F);
    const Buffer<float> a(*in_helper.device, ones), b(*in_helper.device, ones),
        c(*in_helper.device, 1);
    in_helper.device->launch(kernel, {{1}, {256}}, {}, a.pointer(), b.pointer(), c.pointer(), 256U);
    EXPECT_EQ(c.download(), std::vector<float>{256.0F});
    const BlockResources resources = in_helper.device->timings().find("dot_book")->resources;
    EXPECT_EQ(resources.shared_bytes, 4096U);
    const bool on_gpu = in_helper.device->info().kind != DeviceKind::emulator;
    EXPECT_EQ(resources.registers > 0, on_gpu) << resources.registers;
    EXPECT_LE(resources.registers, 255U);
}

TEST_P(HelperDeviceTest, LaunchesInAGroupHaveOneTimeTogether) {
    InHelper in_helper(GetParam());
    const auto count = in_helper.device->kernel_from_ptx<Words>(hostile_ptx, "count");
    const Buffer<std::uint32_t> out(*in_helper.device, 32);
    in_helper.device->time_as("both", {}, [&] {
        in_helper.device->launch(count, {{1}, {32}}, {}, out.pointer());
        in_helper.device->launch(count, {{1}, {32}}, {}, out.pointer());
    });
    EXPECT_EQ(in_helper.device->timings().find("count"), nullptr);
    ASSERT_NE(in_helper.device->timings().find("both"), nullptr);
    EXPECT_GT(in_helper.device->timings().find("both")->last_ms(), 0.0F);
}

TEST_P(HelperDeviceTest, CopiesMemoryOfAnySize) {
    InHelper in_helper(GetParam());
    for (const std::size_t bytes :
         {std::size_t(1), transfer_bytes - 1, transfer_bytes, 2 * transfer_bytes + 3}) {
        std::vector<std::uint8_t> values(bytes);
        for (std::size_t i = 0; i < bytes; ++i) values[i] = std::uint8_t(i * 2654435761U >> 24);
        Buffer<std::uint8_t> buffer(*in_helper.device, values);
        EXPECT_TRUE(buffer.download() == values) << bytes;
        buffer.fill(0x5a);
        EXPECT_TRUE(buffer.download() == std::vector<std::uint8_t>(bytes, 0x5a)) << bytes;
        const Buffer<std::uint8_t> other(*in_helper.device, values);
        in_helper.device->copy(buffer.pointer().address, other.pointer().address, bytes);
        EXPECT_TRUE(buffer.download() == values) << bytes;
    }
}

TEST_P(HelperDeviceTest, EditsReplaceBuiltInFiles) {
    InHelper in_helper(GetParam());
    auto edit = std::make_shared<KernelEdit>();
    edit->file = "dot";
    edit->source = "// mine";
    edit->ptx = hostile_ptx;
    in_helper.device->set_edits({{"dot", edit}});
    const auto count = in_helper.device->kernel<Words>("dot", "count");
    Buffer<std::uint32_t> out(*in_helper.device, 32);
    out.fill(0);
    in_helper.device->launch(count, {{1}, {32}}, {}, out.pointer());
    EXPECT_EQ(out.download(), std::vector<std::uint32_t>(32, 1));
    EXPECT_EQ(in_helper.device->source("kernels/dot.cu"), "// mine");
    EXPECT_THROW((in_helper.device->kernel<Words>("dot", "dot_book")), DeviceError);
    EXPECT_NO_THROW(
        (in_helper.device->shipped_kernel<Words, Words, Words, unsigned>("dot", "dot_book")));
    in_helper.device->set_edits({});
    EXPECT_THROW((in_helper.device->kernel<Words>("dot", "count")), DeviceError);
}

TEST_P(HelperDeviceTest, VariablesOfAnEditAreWrittenAndRead) {
    InHelper in_helper(GetParam());
    auto edit = std::make_shared<KernelEdit>();
    edit->file = "launch/scale";
    edit->ptx = tests::scale_ptx;
    for (Device* on : {in_helper.device.get(), &device()}) {
        on->set_edits({{edit->file, edit}});
        const auto scale = on->kernel<DevicePointer<float>>(edit->file, "scale");
        const DeviceVariable factors = on->variable(edit->file, "_ZN3lib7factorsE");
        const DeviceVariable calls = on->variable(edit->file, "_ZN3lib5callsE");
        EXPECT_EQ(factors.bytes, 16U);
        EXPECT_EQ(calls.bytes, 4U);
        const std::array<float, 4> values{1, 10, 100, 1000};
        on->upload(factors.address, values.data(), sizeof(values));
        Buffer<float> y(*on, std::vector<float>{1, 2, 3, 4, 5, 6, 7, 8});
        on->launch(scale, {{1}, {8}}, {}, y.pointer());
        EXPECT_EQ(y.download(), (std::vector<float>{1, 20, 300, 4000, 5, 60, 700, 8000}));
        std::uint32_t counted = 0;
        on->download(&counted, calls.address, sizeof(counted));
        EXPECT_EQ(counted, 8U);
        EXPECT_HAS(message_of_ordinary_error([&] { on->variable(edit->file, "nothing"); }),
                   "nothing");
    }
}

TEST_P(HelperDeviceTest, AChangedSignatureThrowsBeforeTheLaunch) {
    InHelper in_helper(GetParam());
    Device& d = *in_helper.device;
    const auto fewer =
        message_of_ordinary_error([&] { (d.kernel_from_ptx<Words, int>(hostile_ptx, "count")); });
    EXPECT_HAS(fewer, "kernel count takes 1 arguments, not 2");
    const auto more = message_of_ordinary_error([&] { d.kernel_from_ptx<>(hostile_ptx, "count"); });
    EXPECT_HAS(more, "kernel count takes 1 arguments, not 0");
    const auto other =
        message_of_ordinary_error([&] { d.kernel_from_ptx<int>(hostile_ptx, "count"); });
    EXPECT_HAS(other, "argument 0 of kernel count has 8 bytes, not 4");
}

TEST_P(HelperDeviceTest, OrdinaryErrorsDoNotEndTheHelperProcess) {
    InHelper in_helper(GetParam());
    Device& d = *in_helper.device;
    EXPECT_NE(message_of_ordinary_error([&] { d.kernel_from_ptx<>("no PTX at all", "count"); }),
              "");
    EXPECT_NE(message_of_ordinary_error([&] { d.kernel<int>("no_such_file", "count"); }), "");
    EXPECT_NE(message_of_ordinary_error([&] { d.attach(nullptr, 4); }), "");
    EXPECT_THROW(d.allocate(std::size_t(1) << 50), OutOfMemory);
    const auto count = d.kernel_from_ptx<Words>(hostile_ptx, "count");
    Buffer<std::uint32_t> out(d, 32);
    EXPECT_NE(message_of_ordinary_error([&] {
                  d.launch(count, {{1}, {2000}}, {}, out.pointer());
              }),
              "");
    out.fill(0);
    d.launch(count, {{1}, {32}}, {}, out.pointer());
    EXPECT_EQ(out.download()[31], 1U);
}

TEST_P(HelperDeviceTest, AnEndlessLoopEndsOnlyTheHelperProcess) {
    for (const int launches_before : {0, 99}) {
        InHelper in_helper(GetParam());
        Buffer<std::uint32_t> held(*in_helper.device, 4);
        for (int i = 0; i < launches_before; ++i) in_helper.spin(1);
        in_helper.device->set_launch_limits({.time = 200ms});
        const auto words = message_of_loss([&] { in_helper.spin(for_ever); });
        EXPECT_HAS(words,
                   "kernel spin did not end within 0.2 s: an endless loop, or threads that wait");
        EXPECT_TRUE(ends_soon(in_helper.id));
        EXPECT_EQ(message_of_loss([&] { in_helper.spin(1); }), words);
        EXPECT_EQ(message_of_loss([&] { held.download(); }), words);
        EXPECT_EQ(message_of_loss([&] { held.fill(0); }), words);
        EXPECT_EQ(message_of_loss([&] { in_helper.device->synchronize(); }), words);
        EXPECT_EQ(message_of_loss([&] { in_helper.device->allocate(4); }), words);
        in_helper.device->release(held.pointer().address);
    }
}

TEST_P(HelperDeviceTest, AnInvalidAddressOrATrapEndsAtMostTheHelperProcess) {
    for (const int launches_before : {0, 99}) {
        for (const char* name : {"wild_global", "wild_shared", "trapped", "misaligned"}) {
            InHelper in_helper(GetParam());
            in_helper.device->set_launch_limits({.time = 20s});
            for (int i = 0; i < launches_before; ++i) in_helper.spin(1);
            const auto kernel = in_helper.device->kernel_from_ptx<std::uint64_t>(hostile_ptx, name);
            const Buffer<std::uint32_t> held(*in_helper.device, 4);
            const std::uint64_t argument = std::string_view(name) == "misaligned"
                                               ? held.pointer().address
                                               : std::uint64_t(1) << 30;
            const auto fails = [&] {
                in_helper.device->launch(kernel, {{1}, {32}}, {}, argument);
                in_helper.device->synchronize();
            };
            if (gpu()) {
                EXPECT_HAS(message_of_loss(fails), std::string("kernel ") + name);
                EXPECT_TRUE(ends_soon(in_helper.id));
            } else {
                EXPECT_NE(message_of_ordinary_error(fails), "") << name;
                EXPECT_FALSE(has_ended(in_helper.id));
                EXPECT_EQ(held.download().size(), 4U);
            }
        }
    }
}

TEST_P(HelperDeviceTest, AStopEndsTheCurrentLaunchAndRefusesLaterOnes) {
    InHelper in_helper(GetParam());
    std::stop_source stop;
    in_helper.device->set_launch_limits({.stop = stop.get_token()});
    const auto stopper = in_helper.during_the_next_launch([&] { stop.request_stop(); });
    EXPECT_HAS(message_of_loss([&] { in_helper.spin(for_ever); }), "kernel spin was stopped");
    EXPECT_TRUE(ends_soon(in_helper.id));

    InHelper before(GetParam());
    before.device->set_launch_limits({.stop = stop.get_token()});
    EXPECT_HAS(message_of_ordinary_error([&] { before.spin(1); }), "stopped");
    before.device->set_launch_limits({});
    EXPECT_NO_THROW(before.spin(1));
}

TEST_P(HelperDeviceTest, TheCallAfterTheHelperProcessWasKilledThrowsDeviceLost) {
    InHelper in_helper(GetParam());
    const Buffer<std::uint32_t> held(*in_helper.device, 4);
    ::kill(in_helper.id, SIGKILL);
    EXPECT_TRUE(ends_soon(in_helper.id));
    EXPECT_HAS(message_of_loss([&] { held.download(); }), "killed by signal 9");
}

TEST_P(HelperDeviceTest, ALaunchThrowsDeviceLostWhenTheHelperProcessIsKilled) {
    InHelper in_helper(GetParam());
    const auto killer =
        in_helper.during_the_next_launch([id = in_helper.id] { ::kill(id, SIGKILL); });
    EXPECT_HAS(message_of_loss([&] { in_helper.spin(for_ever); }), "kernel spin ended its helper");
}

TEST_P(HelperDeviceTest, TwoHelperProcessesAreIndependent) {
    InHelper first(GetParam()), second(GetParam());
    const auto count = second.device->kernel_from_ptx<Words>(hostile_ptx, "count");
    Buffer<std::uint32_t> out(*second.device, 32);
    out.fill(0);
    std::jthread loses([&] {
        first.device->set_launch_limits({.time = 100ms});
        EXPECT_NE(message_of_loss([&] { first.spin(for_ever); }), "");
    });
    for (int i = 0; i < 50; ++i) second.device->launch(count, {{1}, {32}}, {}, out.pointer());
    loses.join();
    second.device->launch(count, {{1}, {32}}, {}, out.pointer());
    EXPECT_EQ(out.download(), std::vector<std::uint32_t>(32, 51));
}

TEST_P(HelperDeviceTest, LeavesNoZombie) {
    pid_t id = -1;
    {
        const InHelper in_helper(GetParam());
        id = in_helper.id;
        EXPECT_FALSE(has_ended(id));
    }
    EXPECT_TRUE(tests::soon([&] { return tests::stat_of(id).empty(); }));
}

TEST(HelperDeviceOnTheEmulator, SchedulesAreTheSameAsInThisProcess) {
    // The schedule decides which thread writes its number last.
    constexpr std::string_view last = R"(
.version 6.4
.target sm_75
.address_size 64
.visible .entry last(.param .u64 out)
{
    .reg .b32 %r<2>;
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, %tid.x;
    bar.sync 0;
    st.global.u32 [%rd1], %r1;
    ret;
}
)";
    const auto winners = [&](Device& device) {
        std::vector<std::uint32_t> all;
        const auto kernel = device.kernel_from_ptx<Words>(last, "last");
        const Buffer<std::uint32_t> out(device, 1);
        for (const std::uint64_t frame : {1, 2, 3, 4, 5, 6})
            for (const std::uint64_t seed : {7, 8}) {
                device.set({.seed = seed});
                device.begin_frame(frame);
                device.launch(kernel, {{1}, {256}}, {}, out.pointer());
                all.push_back(out.download()[0]);
            }
        return all;
    };
    const auto here = pick_device("emulator");
    const auto expected = winners(*here);
    EXPECT_NE(std::set<std::uint32_t>(expected.begin(), expected.end()).size(), 1U);
    EXPECT_EQ(winners(*InHelper("emulator").device), expected);
}

TEST(HelperDeviceOnTheEmulator, ACrashThrowsDeviceLost) {
    InHelper in_helper("emulator");
    const std::uint32_t value = 1;
    // The address is not mapped in the helper process, which crashes.
    const auto words =
        message_of_loss([&] { in_helper.device->upload(16, &value, sizeof(value)); });
    EXPECT_HAS(words, "copying memory ended its helper process: it ");
}

}  // namespace
}  // namespace warpscope::compute
