#include "bench/scalar_loops.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <vector>

namespace warpscope::bench {
namespace {

TEST(ScalarLoops, RippleTurnsEachTileBy180Degrees) {
    constexpr int size = 48;
    std::vector<std::uint8_t> rgba(size * size * 4, 77);
    scalar_ripple(rgba, size);
    for (int y = 0; y < size; ++y) {
        for (int x = 0; x < size; ++x) {
            const int sx = x / 16 * 16 + 15 - x % 16, sy = y / 16 * 16 + 15 - y % 16;
            const double k = 2 * std::numbers::pi / 128;
            const double level = 255 * (std::sin(sx * k) + 1) * (std::sin(sy * k) + 1) / 4;
            const std::uint8_t* p = &rgba[(std::size_t(y) * size + x) * 4];
            EXPECT_NEAR(p[1], level, 1.001) << x << ", " << y;
            EXPECT_EQ(p[0] + p[2], 0);
            EXPECT_EQ(p[3], 255);
        }
    }
}

TEST(ScalarLoops, TwoBodiesFallTowardsEachOther) {
    const float dt = 0.5F, eps = 0.75F;
    const std::vector<Float4> position{{0, 0, 0, 3}, {1, 0, 0, 1}};
    const std::vector<Float4> velocity{{0, 0, 1, 0}, {0, 0, 0, 0}};
    std::vector<Float4> new_position(2), new_velocity(2);
    scalar_nbody(new_position, new_velocity, position, velocity, dt, eps);
    // a = m r / (1 + 9/16)^(3/2) = m * 64/125.
    EXPECT_NEAR(new_velocity[0].x, 0.512 * 1 * 0.5, 1e-6);
    EXPECT_NEAR(new_velocity[1].x, -0.512 * 3 * 0.5, 1e-6);
    EXPECT_NEAR(new_position[0].x, 0.128, 1e-6);
    EXPECT_NEAR(new_position[0].z, 0.5, 1e-6);
    EXPECT_NEAR(new_position[1].x, 1 - 0.384, 1e-6);
    EXPECT_EQ(new_position[0].w, 3);
}

TEST(ScalarLoops, BodiesBeyondTheNewPositionsAttractOnly) {
    const std::vector<Float4> position{{0, 0, 0, 3}, {1, 0, 0, 1}};
    const std::vector<Float4> velocity{{0, 0, 0, 0}, {0, 0, 0, 0}};
    std::vector<Float4> new_position(1), new_velocity(1);
    scalar_nbody(new_position, new_velocity, position, velocity, 0.5F, 0.75F);
    EXPECT_NEAR(new_velocity[0].x, 0.512 * 1 * 0.5, 1e-6);
}

TEST(ScalarLoops, SumsHaveEveryElementOnce) {
    // 10 000 elements are more than one sum in float; all results are integers below 2^24.
    std::vector<float> ones(10'000, 1), tens(10'000, 10);
    EXPECT_EQ(scalar_sum(ones), 10'000);
    EXPECT_EQ(scalar_dot(ones, tens), 100'000);
    tens.back() = 11;
    EXPECT_EQ(scalar_dot(ones, tens), 100'001);
    EXPECT_EQ(scalar_sum({}), 0);
}

}  // namespace
}  // namespace warpscope::bench
