#include "experiments/nbody/nbody_rank.h"

#include <gtest/gtest.h>

namespace warpscope::experiments {
namespace {

TEST(BodyShare, IsContiguousAndUnevenByOneBodyAtMost) {
    EXPECT_EQ(share_of(10, 3, 0), (BodyShare{0, 3}));
    EXPECT_EQ(share_of(10, 3, 1), (BodyShare{3, 3}));
    EXPECT_EQ(share_of(10, 3, 2), (BodyShare{6, 4}));
    EXPECT_EQ(share_of(7, 1, 0), (BodyShare{0, 7}));
}

TEST(BodyShare, CoversAllBodiesOfAnyNumberOfRanks) {
    for (const std::size_t bodies : {0, 1, 2, 5, 64, 1001, 1 << 24})
        for (const std::size_t ranks : {1, 2, 3, 7, 64}) {
            std::size_t next = 0;
            for (std::size_t rank = 0; rank < ranks; ++rank) {
                const BodyShare share = share_of(bodies, ranks, rank);
                ASSERT_EQ(share.begin, next);
                ASSERT_GE(share.count, bodies / ranks);
                ASSERT_LE(share.count, bodies / ranks + 1);
                next += share.count;
            }
            EXPECT_EQ(next, bodies);
        }
}

TEST(BodyShare, OfTwoBodiesLeavesOneOfThreeRanksWithNone) {
    const std::vector<std::size_t> bounds = byte_bounds(2, 3, 16);
    EXPECT_EQ(bounds, (std::vector<std::size_t>{0, 0, 16, 32}));
}

}  // namespace
}  // namespace warpscope::experiments
