#include "compute/libraries/nvml.h"

#include <gtest/gtest.h>

namespace warpscope::compute {
namespace {

TEST(Nvml, WithoutTheLibraryThereIsNoState) {
    EXPECT_FALSE(gpu_state("0000:3b:00.0", "libno-such-nvml.so.1"));
    // A library without the functions of NVML.
    EXPECT_FALSE(gpu_state("0000:3b:00.0", "libm.so.6"));
}

TEST(Nvml, AnUnknownGpuHasNoState) {
    EXPECT_FALSE(gpu_state("0000:ff:00.0", FAKE_NVML));
    EXPECT_FALSE(gpu_state("", FAKE_NVML));
}

TEST(Nvml, ReadsClocksPowerAndReasonsForThrottling) {
    const auto state = gpu_state("0000:3b:00.0", FAKE_NVML);
    ASSERT_TRUE(state);
    EXPECT_EQ(state->sm_clock_mhz, 1755u);
    EXPECT_EQ(state->max_sm_clock_mhz, 1980u);
    EXPECT_EQ(state->memory_clock_mhz, 3201u);
    EXPECT_DOUBLE_EQ(state->power_w, 469.6);
    EXPECT_EQ(state->temperature_c, 61u);
    EXPECT_EQ(state->throttled_by, (std::vector<std::string>{"power cap", "hardware heat"}));
    EXPECT_EQ(words(*state),
              "1755 MHz of 1980, 470 W, 61 °C, throttled by power cap and hardware heat");
}

TEST(Nvml, AcceptsNamesOfOldDriversAndMissingValues) {
    const auto state = gpu_state("0000:3b:00.0", FAKE_OLD_NVML);
    ASSERT_TRUE(state);
    EXPECT_EQ(state->power_w, 0);
    EXPECT_EQ(state->temperature_c, 0u);
    EXPECT_TRUE(state->throttled_by.empty());
    EXPECT_EQ(words(*state), "1755 MHz of 1980, not throttled");
}

}  // namespace
}  // namespace warpscope::compute
