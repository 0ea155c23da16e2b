#include "ui/dock/timings_panel.h"

#include <gtest/gtest.h>

namespace warpscope::ui {
namespace {

using Kernels = std::vector<compute::KernelTiming>;

compute::KernelTiming kernel(const char* name, std::uint64_t launches) {
    compute::KernelTiming timing;
    timing.name = name;
    timing.launches = launches;
    return timing;
}

const std::vector<std::string> tiled{"kernel=tiled"}, other{"kernel=float3"};

TEST(RecentKernels, AKernelRunsUntilOthersRunLongWithoutIt) {
    RecentKernels recent;
    recent.follow({kernel("a", 5), kernel("b", 5)}, tiled);
    for (std::uint64_t i = 6; i < 36; ++i) {
        EXPECT_TRUE(recent.still_runs("a")) << i;
        recent.follow({kernel("a", 5), kernel("b", i)}, tiled);
    }
    EXPECT_FALSE(recent.still_runs("a"));
    EXPECT_TRUE(recent.still_runs("b"));
    recent.follow({kernel("a", 6), kernel("b", 36)}, tiled);
    EXPECT_TRUE(recent.still_runs("a"));
}

TEST(RecentKernels, WhileNothingRunsAllStay) {
    RecentKernels recent;
    for (int i = 0; i < 100; ++i) recent.follow({kernel("a", 5), kernel("b", 7)}, tiled);
    EXPECT_TRUE(recent.still_runs("a"));
    EXPECT_TRUE(recent.still_runs("b"));
}

TEST(RecentKernels, AChangeOfTheSettingsIsFollowedAtOnce) {
    RecentKernels recent;
    recent.follow({kernel("tiled", 5), kernel("picture", 5)}, tiled);
    recent.follow({kernel("tiled", 5), kernel("picture", 5)}, other);
    EXPECT_TRUE(recent.still_runs("tiled")) << "nothing else has run yet";
    recent.follow({kernel("tiled", 5), kernel("picture", 6), kernel("float3", 1)}, other);
    EXPECT_FALSE(recent.still_runs("tiled"));
    EXPECT_TRUE(recent.still_runs("picture"));
    EXPECT_TRUE(recent.still_runs("float3"));
}

TEST(RecentKernels, WhatBeganToRunLastComesFirst) {
    const auto names = [](const RecentKernels& recent, const Kernels& kernels) {
        std::string all;
        for (const auto* one : recent.running(kernels)) all += one->name + " ";
        return all;
    };
    RecentKernels recent;
    Kernels kernels{kernel("tiled", 5), kernel("picture", 5)};
    recent.follow(kernels, tiled);
    EXPECT_EQ(names(recent, kernels), "tiled picture ");
    kernels = {kernel("tiled", 5), kernel("picture", 6), kernel("float3", 1)};
    recent.follow(kernels, other);
    EXPECT_EQ(names(recent, kernels), "float3 picture ");
    kernels = {kernel("tiled", 5), kernel("picture", 7), kernel("float3", 2), kernel("late", 1)};
    recent.follow(kernels, other);
    EXPECT_EQ(names(recent, kernels), "late float3 picture ");
}

TEST(RecentKernels, AnotherDeviceStartsAnew) {
    RecentKernels recent;
    recent.follow({kernel("a", 50)}, tiled);
    recent.follow({kernel("a", 50), kernel("b", 3)}, other);
    EXPECT_FALSE(recent.still_runs("a"));
    recent.follow({kernel("a", 1), kernel("b", 1)}, other);
    EXPECT_TRUE(recent.still_runs("a"));
}

}  // namespace
}  // namespace warpscope::ui
