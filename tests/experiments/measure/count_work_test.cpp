#include "experiments/measure/compared_kernels.h"

#include <gtest/gtest.h>

#include "compute/emulated/emulated_device.h"
#include "emulator/counters/access_counters.h"
#include "experiments/nbody/nbody.h"
#include "experiments/ripple/ripple.h"
#include "experiments/settings.h"
#include "experiments/sums/dot.h"
#include "support/host_device.h"

namespace warpscope::experiments {
namespace {

using tests::set;

const Comparison::Row& row_of(const Comparison& comparison, std::string_view id) {
    for (const Comparison::Row& row : comparison.rows)
        if (row.id == id) return row;
    throw std::runtime_error("no row " + std::string(id));
}

TEST(CountWork, TileLayoutsDifferInTheirBankPasses) {
    const auto device = compute::make_emulated_device("");
    Ripple ripple(*device);
    set(ripple, {{"size", "64"}});
    const Comparison comparison = ripple.compare().value();
    EXPECT_TRUE(comparison.counted());
    EXPECT_EQ(comparison.element, "pixel");
    // 16 blocks of 8 warps. A warp writes and reads its words of the tile once, and stores 32
    // pixels of 4 bytes: 4 sectors.
    const Comparison::Counts& book = row_of(comparison, "txty").counts.value();
    EXPECT_EQ(book.sectors, 16 * 8 * 4);
    EXPECT_EQ(book.bank_passes, 16 * 8 * (8 + 8)) << "8-way conflicts";
    EXPECT_EQ(book.barriers, 16);
    const Comparison::Counts& free = row_of(comparison, "tytx").counts.value();
    EXPECT_EQ(free.bank_passes, 16 * 8 * (1 + 1));
    EXPECT_EQ(free.sectors, book.sectors);
    EXPECT_EQ(row_of(comparison, "bytes").counts.value().sectors, 4 * book.sectors)
        << "each of the four byte stores touches the warp's 4 sectors";
}

TEST(CountWork, TilesReplaceLoadsOfGlobalMemory) {
    const auto device = compute::make_emulated_device("");
    NBody nbody(*device);
    set(nbody, {{"bodies", "512"}, {"block", "128"}});
    const Comparison comparison = nbody.compare().value();
    const Comparison::Counts& global = row_of(comparison, "float4").counts.value();
    const Comparison::Counts& tiled = row_of(comparison, "tiled").counts.value();
    EXPECT_EQ(global.bank_passes, 0);
    EXPECT_EQ(global.barriers, 0);
    // 4 blocks load 4 tiles each, with a barrier before and after each tile is used.
    EXPECT_EQ(tiled.barriers, 4 * 4 * 2);
    EXPECT_LT(tiled.sectors, global.sectors / 4);
    EXPECT_GT(tiled.instructions, 8) << "of one interaction";
    EXPECT_LT(tiled.instructions, 40);
}

TEST(CountWork, LeavesOutTheKernelThatClearsSharedMemory) {
    const auto device = compute::make_emulated_device("");
    Dot dot(*device);
    set(dot, {{"n", "3000"}});
    const Comparison comparison = dot.compare().value();
    // Only kernels without a barrier run after clear_shared.
    EXPECT_EQ(row_of(comparison, "no_barriers").counts.value().bank_passes,
              row_of(comparison, "book").counts.value().bank_passes);
    EXPECT_EQ(row_of(comparison, "no_barriers").counts.value().barriers, 0);
}

TEST(CountWork, AnObserverOfTheDeviceSeesTheLaunchesToo) {
    const auto device = compute::make_emulated_device("");
    Ripple ripple(*device);
    set(ripple, {{"size", "32"}});
    emulator::AccessCounters outer;
    device->observe(&outer);
    const auto counts = count_work(*device, 1024, [&] { ripple.launch_kernel(); });
    EXPECT_EQ(device->observe(nullptr), &outer);
    ASSERT_EQ(outer.kernels().size(), 1U);
    EXPECT_EQ(double(outer.kernels().front().barriers), counts.value().barriers);
}

TEST(CountWork, ADeviceThatIsNoEmulatorRunsTheLaunchesUncounted) {
    tests::HostDevice device;
    int calls = 0;
    EXPECT_FALSE(count_work(device, 1, [&] { ++calls; }));
    EXPECT_EQ(calls, 1);
}

}  // namespace
}  // namespace warpscope::experiments
