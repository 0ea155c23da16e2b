#include "experiments/bodies/bodies.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <vector>

#include "experiments/bodies/gravity.h"

namespace warpscope::experiments {
namespace {

using std::numbers::pi;

struct Start {
    const char* name;
    Bodies (*start)(std::size_t, std::uint64_t, const std::stop_token&);
    Bodies make(std::size_t n, std::uint64_t seed) const { return start(n, seed, {}); }
};
constexpr Start starts[] = {{"plummer", plummer_sphere},
                            {"disk", rotating_disk},
                            {"collision", colliding_galaxies},
                            {"cold", cold_sphere}};

double length(const Vector& v) {
    return std::hypot(v[0], v[1], v[2]);
}

double length(const std::array<float, 3>& v) {
    return std::hypot(double(v[0]), double(v[1]), double(v[2]));
}

Vector centre_of_mass(const Bodies& bodies) {
    Vector sum{};
    for (const Body& body : bodies)
        for (int k = 0; k < 3; ++k) sum[k] += double(body.mass) * body.position[k];
    return sum;
}

bool same(const Bodies& a, const Bodies& b) {
    if (a.size() != b.size()) return false;
    for (std::size_t i = 0; i < a.size(); ++i)
        if (a[i].position != b[i].position || a[i].velocity != b[i].velocity ||
            a[i].mass != b[i].mass)
            return false;
    return true;
}

TEST(BodiesStart, HaveMassOneAndRestInTheOrigin) {
    for (const Start& start : starts) {
        for (std::size_t n : {1, 2, 3, 4, 31, 1000}) {
            const Bodies bodies = start.make(n, 7);
            SCOPED_TRACE(std::string(start.name) + " of " + std::to_string(n));
            ASSERT_EQ(bodies.size(), n);
            EXPECT_NEAR(total_mass(bodies), 1, 1e-5);
            EXPECT_LT(length(total_momentum(bodies)), 1e-6);
            EXPECT_LT(length(centre_of_mass(bodies)), 1e-6);
            for (const Body& body : bodies) {
                EXPECT_TRUE(std::isfinite(length(body.position) + length(body.velocity)));
                EXPECT_GT(body.mass, 0);
            }
        }
    }
}

TEST(BodiesStart, EqualSeedsGiveEqualBodies) {
    for (const Start& start : starts) {
        EXPECT_TRUE(same(start.make(100, 3), start.make(100, 3))) << start.name;
        EXPECT_FALSE(same(start.make(100, 3), start.make(100, 4))) << start.name;
    }
}

// Aarseth, Henon & Wielen 1974: E = -1/4 and T / |U| = 1/2 in their units, half of the mass within
// 3 pi / 16 / sqrt(2^(2/3) - 1). Sampling errors at n = 8192 are near 1 %.
TEST(BodiesStart, PlummerSphereIsInEquilibrium) {
    const Bodies bodies = plummer_sphere(8192, 1);
    const Energy e = energy(bodies, 0);
    EXPECT_NEAR(e.kinetic / -e.potential, 0.5, 0.02);
    EXPECT_NEAR(e.total(), -0.25, 0.01);
    const double half = 3 * pi / 16 / std::sqrt(std::pow(2.0, 2.0 / 3) - 1);
    EXPECT_NEAR(radius_of_share(bodies, 0.5), half, 0.03 * half);
}

TEST(BodiesStart, ColdSphereIsHomogeneousAndAtRest) {
    const Bodies bodies = cold_sphere(8192, 1);
    EXPECT_EQ(energy(bodies, 0).kinetic, 0);
    EXPECT_NEAR(radius_of_share(bodies, 0.125), 0.5, 0.02);
    EXPECT_NEAR(energy(bodies, 0).potential, -0.6, 0.01);  // -3/5 G M^2 / R
}

TEST(BodiesStart, DiskTurnsCounterClockwiseOnNearlyCircularOrbits) {
    const Bodies bodies = rotating_disk(4096, 1);
    EXPECT_NEAR(bodies[0].mass, 0.6, 1e-6);
    double out = 0, along = 0;
    for (std::size_t i = 1; i < bodies.size(); ++i) {
        const auto& x = bodies[i].position;
        const auto& v = bodies[i].velocity;
        const double radius = std::hypot(x[0], x[1]);
        const double turning = (x[0] * v[1] - x[1] * v[0]) / radius;
        EXPECT_GT(turning, 0);
        EXPECT_LT(std::abs(x[2]), 0.12);
        along += turning;
        out += std::abs(x[0] * v[0] + x[1] * v[1]) / radius;
    }
    EXPECT_LT(out / along, 0.08);
}

TEST(BodiesStart, GalaxiesApproachOnABoundOrbit) {
    const Bodies bodies = colliding_galaxies(3000, 1);
    // The first 2000 bodies are the heavy galaxy, the others the light one.
    Vector apart{}, relative{};
    for (std::size_t i = 0; i < bodies.size(); ++i) {
        const double sign = i < 2000 ? -1.5 : 3;  // 1 / share of the mass
        for (int k = 0; k < 3; ++k) {
            apart[k] += sign * bodies[i].mass * bodies[i].position[k];
            relative[k] += sign * bodies[i].mass * bodies[i].velocity[k];
        }
    }
    EXPECT_NEAR(length(apart), 2.57, 0.1);
    const double approach =
        apart[0] * relative[0] + apart[1] * relative[1] + apart[2] * relative[2];
    EXPECT_LT(approach, 0);
    const double energy = 0.5 * length(relative) * length(relative) - 1 / length(apart);
    EXPECT_LT(energy, 0) << "the two are bound";
}

TEST(BodiesMeasure, RadiusOfShareIsANearestRank) {
    Bodies bodies(10);
    for (int i = 0; i < 10; ++i) bodies[i].position = {0, float(10 - i), 0};
    EXPECT_EQ(radius_of_share(bodies, 0.9), 9);
    EXPECT_EQ(radius_of_share(bodies, 1), 10);
    EXPECT_EQ(radius_of_share(bodies, 0.01), 1);
}

TEST(Gravity, OfTwoBodiesAgreesWithValuesByHand) {
    Bodies bodies(2);
    bodies[0].mass = 3;
    bodies[1].mass = 5;
    bodies[1].position = {3, 4, 0};
    bodies[1].velocity = {0, 2, 0};
    const std::size_t both[] = {0, 1};
    // Softened distance: sqrt(25 + 144) = 13.
    const auto pulls = reference_pulls(bodies, 12, both);
    EXPECT_DOUBLE_EQ(pulls[0].acceleration[0], 3 * 5 / 2197.0);
    EXPECT_DOUBLE_EQ(pulls[0].acceleration[1], 4 * 5 / 2197.0);
    EXPECT_DOUBLE_EQ(pulls[1].acceleration[1], -4 * 3 / 2197.0);
    EXPECT_DOUBLE_EQ(pulls[1].magnitude, 5 * 3 / 2197.0);
    EXPECT_DOUBLE_EQ(energy(bodies, 12).potential, -15 / 13.0);
    EXPECT_DOUBLE_EQ(energy(bodies, 12).kinetic, 10);
}

// The accelerations are the slope of the potential, which is summed by other code.
TEST(Gravity, PullIsTheSlopeOfThePotential) {
    const Bodies bodies = plummer_sphere(50, 2);
    const double eps = 0.3;
    const float h = 1.0f / 256;
    const std::size_t which[] = {17};
    const Pull pull = reference_pulls(bodies, eps, which)[0];
    for (int k = 0; k < 3; ++k) {
        Bodies left = bodies, right = bodies;
        left[17].position[k] -= h;
        right[17].position[k] += h;
        const double step = double(right[17].position[k]) - left[17].position[k];
        const double slope = (energy(right, eps).potential - energy(left, eps).potential) / step;
        EXPECT_NEAR(-slope / bodies[17].mass, pull.acceleration[k],
                    1e-3 * length(pull.acceleration));
    }
}

TEST(SampledEnergy, IsNearTheEnergyOfAllBodies) {
    constexpr double eps = 0.02;
    // The central body of a disk has more than half of the mass, and is the first one.
    for (const Bodies& bodies : {plummer_sphere(5000, 1), rotating_disk(5000, 1)}) {
        const Energy all = energy(bodies, eps), estimated = energy(bodies, eps, 500);
        EXPECT_DOUBLE_EQ(estimated.kinetic, all.kinetic);
        EXPECT_NEAR(estimated.potential / all.potential, 1, 0.05);
        EXPECT_NE(estimated.potential, all.potential);
    }
}

TEST(SampledEnergy, OfAllBodiesIsTheEnergy) {
    const Bodies bodies = plummer_sphere(300, 1);
    EXPECT_EQ(energy(bodies, 0.1, 300).potential, energy(bodies, 0.1).potential);
    // Each body stands for itself; the rows have other roundings than the half rows.
    EXPECT_NEAR(energy(bodies, 0.1, 299).potential / energy(bodies, 0.1).potential, 1, 0.01);
}

}  // namespace
}  // namespace warpscope::experiments
