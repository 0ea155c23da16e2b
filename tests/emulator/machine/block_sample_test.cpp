#include "emulator/machine/block_sample.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace warpscope::emulator {
namespace {

using Blocks = std::vector<std::uint32_t>;

bool has(const Blocks& blocks, std::uint32_t block) {
    return std::ranges::binary_search(blocks, block);
}

TEST(BlockSample, HasTheFirstTheLastAndOneBetweenThemWithTheirNeighbours) {
    for (std::uint64_t seed = 0; seed < 8; ++seed) {
        const Blocks blocks = sample_of({1000, 1, 1}, 1, seed);
        EXPECT_LE(blocks.size(), 6u);  // one between them may be a neighbour of the others
        for (const std::uint32_t block : {0u, 1u, 998u, 999u}) EXPECT_TRUE(has(blocks, block));
        for (const std::uint32_t block : blocks)
            EXPECT_TRUE(has(blocks, block + 1) || has(blocks, block - 1)) << block;
    }
}

TEST(BlockSample, HasEveryCornerAndEdgeOfThePlaneAndTheInterior) {
    // 3 x 3 blocks have one interior block, so that no seed can choose another one.
    EXPECT_EQ(sample_of({3, 3, 1}, 9, 1), (Blocks{0, 1, 2, 3, 4, 5, 6, 7, 8}));
    const Blocks blocks = sample_of({100, 50, 1}, 27, 5);
    const auto count = [&](auto is_there) {
        return std::ranges::count_if(
            blocks, [&](std::uint32_t block) { return is_there(block % 100, block / 100); });
    };
    // 3 blocks at each of the four corners, and at least 3 at a place of each edge and inside.
    EXPECT_EQ(count([](auto x, auto y) { return (x < 2 || x > 97) && (y < 2 || y > 47); }), 12);
    for (const std::uint32_t corner : {0u, 99u, 4900u, 4999u}) EXPECT_TRUE(has(blocks, corner));
    const auto is_between = [](auto at, auto size) { return at > 1 && at < size - 2u; };
    EXPECT_GE(count([&](auto x, auto y) { return y == 0 && is_between(x, 100u); }), 1);
    EXPECT_GE(count([&](auto x, auto y) { return y == 49 && is_between(x, 100u); }), 1);
    EXPECT_GE(count([&](auto x, auto y) { return x == 0 && is_between(y, 50u); }), 1);
    EXPECT_GE(count([&](auto x, auto y) { return x == 99 && is_between(y, 50u); }), 1);
    EXPECT_GE(count([&](auto x, auto y) { return is_between(x, 100u) && is_between(y, 50u); }), 3);
}

TEST(BlockSample, ASpaceHasFourBlocksAtEachCorner) {
    const Blocks blocks = sample_of({8, 8, 8}, 108, 1);
    for (unsigned corner = 0; corner < 8; ++corner) {
        const std::uint32_t x = corner & 1 ? 7 : 0, y = corner & 2 ? 7 : 0, z = corner & 4 ? 7 : 0;
        for (const Dim3 at : {Dim3{x, y, z}, Dim3{x ? 6u : 1u, y, z}, Dim3{x, y ? 6u : 1u, z},
                              Dim3{x, y, z ? 6u : 1u}})
            EXPECT_TRUE(has(blocks, linear_in({8, 8, 8}, at))) << name_of(at);
    }
}

TEST(BlockSample, HasAsManyAsAreWantedAndNoneTwice) {
    for (const std::uint64_t most : {10u, 100u, 1000u}) {
        const Blocks blocks = sample_of({4096, 1, 1}, most, 3);
        EXPECT_TRUE(std::ranges::is_sorted(blocks));
        EXPECT_EQ(std::ranges::adjacent_find(blocks), blocks.end());
        EXPECT_GE(blocks.size(), most);
        EXPECT_LE(blocks.size(), most + 1);  // a block comes with its neighbour
    }
    EXPECT_LT(sample_of({4, 1, 1}, 1000, 3).back(), 4u);
    EXPECT_EQ(sample_of({1, 1, 1}, 1, 1), Blocks{0});
    EXPECT_EQ(sample_of({2, 1, 1}, 1, 1), (Blocks{0, 1}));
}

TEST(BlockSample, TheSeedChooses) {
    EXPECT_EQ(sample_of({4096, 1, 1}, 50, 7), sample_of({4096, 1, 1}, 50, 7));
    EXPECT_NE(sample_of({4096, 1, 1}, 50, 7), sample_of({4096, 1, 1}, 50, 8));
}

}  // namespace
}  // namespace warpscope::emulator
