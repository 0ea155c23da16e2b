#include "compute/helper/helpers.h"

#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <set>
#include <string>

#include "hostile_ptx.h"
#include "processes.h"
#include "support/devices.h"

namespace warpscope::compute {
namespace {

class HelperPoolTest : public tests::OnDevices {
  protected:
    std::string wish() { return GetParam() == "cuda" ? "cuda:0" : GetParam(); }
    static void spin(Device& device, std::uint64_t rounds) {
        device.launch(device.kernel_from_ptx<std::uint64_t>(tests::hostile_ptx, "spin"),
                      {{1}, {32}}, {}, rounds);
    }
    std::shared_ptr<HelperPool> pool_ = std::make_shared<HelperPool>(WARPSCOPE);
};
WARPSCOPE_ON_EMULATOR_AND_GPU(HelperPoolTest);

TEST_P(HelperPoolTest, AHelperProcessIsUsedAgainWithAFreshDevice) {
    std::set<pid_t> seen;
    for (int i = 0; i < 6; ++i) {
        const auto device = pool_->device(wish(), "because");
        EXPECT_EQ(device->info().reason, "because");
        for (const pid_t id : tests::helper_ids()) seen.insert(id);
        // Never released: six of these allocations would not fit into a GPU.
        const bool gpu = GetParam() == "cuda";
        EXPECT_NO_THROW(device->allocate(gpu ? device->info().memory_bytes / 3 : 4096));
        EXPECT_TRUE(device->edits().empty());
        spin(*device, 1);
    }
    EXPECT_EQ(seen.size(), 2U);
}

TEST_P(HelperPoolTest, ALostHelperProcessIsReplacedByTheSpare) {
    auto live = pool_->device(wish(), "");
    for (int i = 0; i < 3; ++i) {
        auto tried = pool_->device(wish(), "");
        tried->set_launch_limits({.time = std::chrono::milliseconds(100)});
        EXPECT_THROW(spin(*tried, ~std::uint64_t(0)), DeviceLost);
        EXPECT_NO_THROW(spin(*live, 1));
    }
    auto next = pool_->device(wish(), "");
    EXPECT_NO_THROW(spin(*next, 1));
}

TEST_P(HelperPoolTest, ASpareThatWasKilledIsReplaced) {
    pool_->warm(wish());
    for (const pid_t id : tests::helper_ids()) ::kill(id, SIGKILL);
    const auto device = pool_->device(wish(), "");
    EXPECT_NO_THROW(spin(*device, 1));
}

TEST_P(HelperPoolTest, ADeviceMayOutliveThePool) {
    const auto device = pool_->device(wish(), "");
    pool_ = nullptr;
    EXPECT_NO_THROW(spin(*device, 1));
}

TEST(HelperPool, AMissingDeviceThrowsDeviceError) {
    const auto pool = std::make_shared<HelperPool>(WARPSCOPE);
    try {
        pool->device("cuda:999", "");
        FAIL() << "no error";
    } catch (const DeviceError& error) {
        EXPECT_NE(std::string(error.what()).find("GPU"), std::string::npos) << error.what();
    }
}

}  // namespace
}  // namespace warpscope::compute
