#include "compute/device/occupancy.h"

#include <gtest/gtest.h>

#include <string>

namespace warpscope::compute {
namespace {

// Blocks and warps of an SM, and the limits that hold: w(arps), b(locks), r(egisters), s(hared).
std::string words(int compute_capability, BlockNeeds needs) {
    const Occupancy o = occupancy(*find_sm_limits(compute_capability), needs);
    std::string text = std::to_string(o.blocks) + " blocks, " + std::to_string(o.warps) + " warps:";
    const char letters[] = {'w', 'b', 'r', 's'};
    for (const auto limit : {OccupancyLimit::warps, OccupancyLimit::blocks,
                             OccupancyLimit::registers, OccupancyLimit::shared_memory})
        if (o.is_limited_by(limit)) text += std::string(" ") + letters[std::size_t(limit)];
    return text;
}

// A warp has ceil(32 * registers / 256) * 256 registers; each of four partitions has 16 384.
TEST(Occupancy, RegistersAreAllocatedByWarpInEachPartition) {
    // 1024 a warp: 16 warps in a partition, 64 in the SM.
    EXPECT_EQ(words(80, {256, 0, 32}), "8 blocks, 64 warps: w r");
    // 2048 a warp: 8 warps in a partition, 32 in the SM, which all may be active.
    EXPECT_EQ(words(75, {256, 0, 64}), "4 blocks, 32 warps: w r");
    // 37 * 32 = 1184, rounded up to 1280: 12 warps in a partition, 48 in the SM.
    EXPECT_EQ(words(90, {128, 0, 37}), "12 blocks, 48 warps: r");
    // 1280 a warp: 48 warps, one block of 32.
    EXPECT_EQ(words(86, {1024, 0, 40}), "1 blocks, 32 warps: w r");
    // 255 * 32 = 8160, rounded up to 8192: 2 warps in a partition.
    EXPECT_EQ(words(90, {256, 0, 255}), "1 blocks, 8 warps: r");
    // 72 * 32 = 2304: 7 warps in a partition, 28 in the SM: three blocks of 8 warps.
    EXPECT_EQ(words(89, {256, 0, 72}), "3 blocks, 24 warps: r");
    // 168 * 32 = 5376: 3 warps in a partition, 12 in the SM, but the block has 16.
    EXPECT_EQ(words(90, {512, 0, 168}), "0 blocks, 0 warps: r");
    EXPECT_EQ(words(90, {32, 0, 256}), "0 blocks, 0 warps: r");
}

TEST(Occupancy, SharedMemoryIsRoundedUpAndPartlyReserved) {
    // 49 152 + 1024 reserved bytes: two of 102 400.
    EXPECT_EQ(words(89, {64, 48 * 1024, 16}), "2 blocks, 4 warps: s");
    // 7.5 reserves none: 65 536 / 16 384.
    EXPECT_EQ(words(75, {64, 16 * 1024, 16}), "4 blocks, 8 warps: s");
    // 100 + 1024, rounded up to 1152: 145 of 167 936.
    EXPECT_EQ(occupancy(*find_sm_limits(80), {32, 100, 16}).room[3], 145u);
    // 1 byte on 7.5: 256.
    EXPECT_EQ(occupancy(*find_sm_limits(75), {32, 1, 16}).room[3], 256u);
    // The most for one block, and one byte more.
    EXPECT_EQ(words(80, {128, 163 * 1024, 16}), "1 blocks, 4 warps: s");
    EXPECT_EQ(words(80, {128, 163 * 1024 + 1, 16}), "0 blocks, 0 warps: s");
    EXPECT_EQ(words(90, {128, 227 * 1024, 16}), "1 blocks, 4 warps: s");
    EXPECT_EQ(words(100, {1024, 113 * 1024, 32}), "2 blocks, 64 warps: w r s");
}

TEST(Occupancy, BlocksAndWarpsOfAnSmAreLimited) {
    EXPECT_EQ(words(75, {32, 0, 16}), "16 blocks, 16 warps: b");
    EXPECT_EQ(words(86, {32, 0, 16}), "16 blocks, 16 warps: b");
    EXPECT_EQ(words(89, {32, 0, 16}), "24 blocks, 24 warps: b");
    EXPECT_EQ(words(100, {32, 0, 16}), "32 blocks, 32 warps: b");
    EXPECT_EQ(words(100, {64, 0, 16}), "32 blocks, 64 warps: w b");
    // 33 threads take two warps.
    EXPECT_EQ(words(86, {33, 0, 16}), "16 blocks, 32 warps: b");
    EXPECT_EQ(words(86, {768, 0, 16}), "2 blocks, 48 warps: w");
    EXPECT_EQ(words(90, {1025, 0, 16}), "0 blocks, 0 warps: w");
    EXPECT_EQ(words(90, {0, 0, 16}), "0 blocks, 0 warps: w");
}

TEST(Occupancy, UnknownRegistersAreNoLimit) {
    const Occupancy o = occupancy(*find_sm_limits(90), {256, 0, {}});
    EXPECT_EQ(o.warps, 64u);
    EXPECT_FALSE(o.room[std::size_t(OccupancyLimit::registers)].has_value());
    EXPECT_FALSE(o.is_limited_by(OccupancyLimit::registers));
}

TEST(Occupancy, TheCurveHasAPointForEachWarpOfABlock) {
    // 64 registers: 8 warps in each partition, 32 in the SM.
    const auto warps = warps_by_block_size(*find_sm_limits(80), {0, 0, 64});
    ASSERT_EQ(warps.size(), 32u);
    EXPECT_EQ(warps[0], 32u);   // 32 blocks of one warp
    EXPECT_EQ(warps[4], 30u);   // 6 blocks of 5
    EXPECT_EQ(warps[16], 17u);  // 1 block of 17
    EXPECT_EQ(warps[31], 32u);
}

TEST(Occupancy, TheCurveOverSharedMemoryEndsAtTheMostForOneBlock) {
    // 8 warps a block; an SM of 9.0 has 228 KiB, and each block takes 1 KiB more than it asks for.
    const auto warps = warps_by_shared_memory(*find_sm_limits(90), {256, 0, {}});
    ASSERT_EQ(warps.size(), 57u);
    EXPECT_EQ(warps[0], 64u);
    EXPECT_EQ(warps[6], 64u);   // 24 KiB: room for 9 blocks, warps for 8
    EXPECT_EQ(warps[7], 56u);   // 28 KiB: 7 blocks
    EXPECT_EQ(warps[28], 16u);  // 112 KiB: 2
    EXPECT_EQ(warps[29], 8u);   // 116 KiB: 1
    EXPECT_EQ(warps[56], 8u);   // 224 KiB
}

TEST(Occupancy, HasNoLimitsOfOtherComputeCapabilities) {
    EXPECT_EQ(find_sm_limits(70), nullptr);
    EXPECT_EQ(find_sm_limits(120), nullptr);
    for (const SmLimits& sm : sm_limits()) EXPECT_EQ(find_sm_limits(sm.compute_capability), &sm);
}

}  // namespace
}  // namespace warpscope::compute
