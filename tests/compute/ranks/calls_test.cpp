#include "compute/ranks/processes.h"

#include <gtest/gtest.h>

#include <thread>

#include "compute/pick_device.h"
#include "support/host_device.h"
#include "support/thread_processes.h"

namespace warpscope::compute {
namespace {

/// Writes down what it is told, and its own end.
class Notes : public CallReceiver {
  public:
    Notes(std::vector<std::string>& notes, std::string device)
        : notes_(notes), device_(std::move(device)) {}
    ~Notes() override { notes_.push_back("end of " + device_); }
    void carry_out(std::span<const std::byte> content) override {
        notes_.emplace_back(reinterpret_cast<const char*>(content.data()), content.size());
    }

  private:
    std::vector<std::string>& notes_;
    const std::string device_;
};

void say(Device& device, std::string_view words) {
    device.exchange()->tell(std::as_bytes(std::span(words)));
}

class Following : public testing::Test {
  protected:
    /// Calls `lead` as process 0 of two. Returns the notes of the other.
    template <class Lead>
    std::vector<std::string> notes_of(const Lead& lead) {
        std::vector<std::string> notes;
        std::jthread other([&] {
            const auto& own = processes_[1];
            receive_calls(
                *own,
                [&](const std::string& wish, std::uint32_t exchange) {
                    return open_told_ranks(others_wish_.empty() ? wish : others_wish_, own,
                                           exchange);
                },
                [&](Device& device) -> std::unique_ptr<CallReceiver> {
                    return std::make_unique<Notes>(notes, device.info().name);
                });
        });
        lead();
        tell(*processes_[0], {Call::Task::end});
        other.join();
        return notes;
    }
    std::unique_ptr<Device> pick() { return pick_ranks("emulator", processes_[0]); }

    std::vector<std::shared_ptr<Processes>> processes_ = tests::ThreadProcesses::make(2);
    std::string others_wish_;
};

TEST_F(Following, CarriesOutWhatIsToldUntilTheDeviceEnds) {
    const auto notes = notes_of([&] {
        const auto device = pick();
        EXPECT_EQ(device->info().name, "2 × SIMT emulator");
        say(*device, "one");
        say(*device, "two");
    });
    EXPECT_EQ(notes, (std::vector<std::string>{"one", "two", "end of 2 × SIMT emulator"}));
}

TEST_F(Following, TellsSeveralDevicesApart) {
    const auto notes = notes_of([&] {
        auto first = pick();
        const auto second = pick();
        say(*second, "second");
        say(*first, "first");
        first.reset();
        say(*second, "second again");
    });
    ASSERT_EQ(notes.size(), 5u);
    EXPECT_EQ(notes[1], "first");
    EXPECT_EQ(notes[2], "end of 2 × SIMT emulator");
    EXPECT_EQ(notes[3], "second again");
}

TEST_F(Following, GoesOnWhereAProcessHasNoDevice) {
    others_wish_ = "cuda:999";
    const auto notes = notes_of([&] {
        try {
            pick();
            ADD_FAILURE() << "rank 1 has no such device";
        } catch (const Refused& e) {
            EXPECT_EQ(std::string(e.what()).rfind("rank 1: ", 0), 0u) << e.what();
        }
        others_wish_ = "";
        say(*pick(), "now");
    });
    EXPECT_EQ(notes, (std::vector<std::string>{"now", "end of 2 × SIMT emulator"}));
}

class FakeGpu final : public tests::HostDevice {
  public:
    explicit FakeGpu(const std::string& pci_bus_id) {
        info_.kind = DeviceKind::cuda;
        info_.pci_bus_id = pci_bus_id;
    }
};

/// The message of the Refused that both of two processes throw; empty if none does.
std::string refusal(Device& first, Device& second) {
    const auto processes = tests::ThreadProcesses::make(2);
    const auto call = [&](int process, Device* device) {
        try {
            call_roll(processes[std::size_t(process)].get(), {{&device, 1}, {}});
            return std::string();
        } catch (const Refused& e) {
            return std::string(e.what());
        }
    };
    std::string of_second;
    std::jthread other([&] { of_second = call(1, &second); });
    std::string of_first = call(0, &first);
    other.join();
    EXPECT_EQ(of_first, of_second);
    return of_first;
}

TEST(Roll, IsRefusedWhereTwoProcessesUseOneGpu) {
    FakeGpu one("0000:3b:00.0"), same("0000:3b:00.0"), another("0000:5e:00.0");
    EXPECT_EQ(refusal(one, another), "");
    const std::string words = refusal(one, same);
    EXPECT_EQ(words.rfind("rank 1: another rank uses its GPU too", 0), 0u) << words;
}

TEST(Roll, IsRefusedWhereSomeProcessesEmulate) {
    FakeGpu gpu("0000:3b:00.0");
    const auto emulator = pick_device("emulator");
    const std::string words = refusal(gpu, *emulator);
    EXPECT_EQ(words.rfind("rank 1: some processes have a GPU", 0), 0u) << words;
}

TEST(PickFirst, TakesTheFirstDeviceAlone) {
    EXPECT_EQ(pick_first("emulator")->exchange(), nullptr);
    EXPECT_THROW(pick_first("cuda:0,0"), std::invalid_argument);
}

TEST(WishesLeft, AreTheGpusThatWork) {
    const auto all_but = [](int lost) { return [lost](int gpu) { return gpu != lost; }; };
    using Wishes = std::vector<std::string>;
    EXPECT_EQ(wishes_left({0, 1, 2}, all_but(1)), (Wishes{"cuda:0,2", "cuda:0", "emulator"}));
    EXPECT_EQ(wishes_left({0, 1}, all_but(0)), (Wishes{"cuda:1", "emulator"}));
    EXPECT_EQ(wishes_left({}, all_but(0)), (Wishes{"emulator"}));
}

TEST(WishesLeft, AreOneGpuWhereTheirExchangeHasFailed) {
    EXPECT_EQ(wishes_left({0, 1}, [](int) { return true; }),
              (std::vector<std::string>{"cuda:0", "emulator"}));
}

TEST(WishesLeft, AreTheEmulatorAloneWhereNoGpuWorks) {
    EXPECT_EQ(wishes_left({0, 1}, [](int) { return false; }),
              (std::vector<std::string>{"emulator"}));
}

}  // namespace
}  // namespace warpscope::compute
