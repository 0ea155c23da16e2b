#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "emulator/machine/machine.h"
#include "experiments/live.h"
#include "experiments/nbody/nbody.h"
#include "experiments/nbody/nbody_check.h"
#include "experiments/nbody/uneven_bodies.h"
#include "experiments/settings.h"
#include "support/devices.h"

namespace warpscope::experiments {
namespace {

using tests::reading;
using tests::set;

constexpr std::size_t ladder_sizes[] = {1, 2, 31, 255, 257, 1000, 4097};

compute::DeviceInfo gpu_with(int multiprocessors) {
    compute::DeviceInfo info;
    info.kind = compute::DeviceKind::cuda;
    info.multiprocessors = multiprocessors;
    return info;
}

class NBodyLadder : public tests::OnDevices {};
WARPSCOPE_ON_DEVICES(NBodyLadder);

TEST_P(NBodyLadder, KernelsThatDivideSumsAreRightInEveryShape) {
    for (const std::size_t n : ladder_sizes) {
        const StepReference reference = make_reference(uneven(n), eps, all_pairs);
        for (const int bodies : {2, 4})
            for (const unsigned rows : {1u, 2u, 3u, 7u, 64u}) {
                for (const auto kernel :
                     {NBodyKernel::fast, NBodyKernel::async, NBodyKernel::bulk}) {
                    const NBodyPartition shape{bodies, rows};
                    const StepError error = check_step(
                        NBodyState(device(), shape, reference.bodies, kernel), 32, reference);
                    EXPECT_TRUE(error.passed())
                        << name_of(kernel) << ": " << n << " bodies, " << bodies << " a thread in "
                        << rows << " rows: " << error.relative;
                }
            }
    }
}

TEST_P(NBodyLadder, FastIsRightForManyBodies) {
    const Bodies bodies = colliding_galaxies(20011, 1);
    const StepReference reference = make_reference(bodies, 0.01f, 1e7);
    for (const NBodyKernel kernel : {NBodyKernel::unrolled, NBodyKernel::several, NBodyKernel::fast,
                                     NBodyKernel::async, NBodyKernel::bulk}) {
        const StepError error = check_step(device(), kernel, 256, reference);
        EXPECT_TRUE(error.passed()) << name_of(kernel) << ": " << error.relative;
    }
}

TEST_P(NBodyLadder, TwoRunsAreEqualBitForBit) {
    for (const std::size_t n : {1000, 9000})
        for (const NBodyKernel kernel :
             {NBodyKernel::rsqrt, NBodyKernel::several, NBodyKernel::fast, NBodyKernel::async,
              NBodyKernel::bulk}) {
            const auto run = [&] {
                NBodyState state(device(), kernel, uneven(n));
                for (int i = 0; i < 3; ++i) state.step(256, 0.01f, eps);
                return state.download();
            };
            const Bodies first = run(), second = run();
            for (std::size_t i = 0; i < n; ++i) {
                ASSERT_EQ(first[i].position, second[i].position) << name_of(kernel) << " " << i;
                ASSERT_EQ(first[i].velocity, second[i].velocity) << name_of(kernel) << " " << i;
            }
        }
}

TEST_P(NBodyLadder, AStepOfFastIsTwoLaunchesAndCountsBoth) {
    NBody nbody(device());
    set(nbody, {{"bodies", "3000"}, {"kernel", "fast"}});
    for (int i = 0; i < 5; ++i) nbody.step();
    const Report report = nbody.report();
    const compute::KernelTimings& timings = device().timings();
    const auto* forces = timings.find("nbody_fast_small");
    const auto* integrate = timings.find("nbody_integrate");
    ASSERT_TRUE(forces && integrate);
    EXPECT_EQ(forces->launches, integrate->launches);
    EXPECT_EQ(forces->work.interactions, 9e6);
    EXPECT_EQ(integrate->work.interactions, 0);
    EXPECT_EQ(forces->block.x, 256u);
    EXPECT_EQ(forces->grid.x, 6u) << "512 bodies a block";
    const double ms = double(forces->median_ms()) + double(integrate->median_ms());
    EXPECT_NEAR(reading(report, "interactions_per_second").value, 9e6 / ms * 1e3, 1e6);
}

TEST(NBodyLadderInTheMicroscope, ShowsTheForcesAndFindsNothing) {
    for (const char* kernel : {"rsqrt", "unrolled", "several", "fast", "async", "bulk"})
        for (const compute::RunSettings& run : tests::runs) {
            const Inspection found =
                tests::Live("nbody", {{"bodies", "250"}, {"block", "96"}, {"kernel", kernel}}, run)
                    .inspection();
            EXPECT_TRUE(found.verdict.findings.empty()) << kernel;
            EXPECT_EQ(found.verdict.error, "");
            const bool divides = std::set<std::string>{"fast", "async", "bulk"}.contains(kernel);
            EXPECT_EQ(found.kernel, fmt::format("nbody_{}{}", kernel, divides ? "_small" : ""));
        }
}

// 132 multiprocessors with 3 blocks of 1024 bodies each, or with one of 512.
TEST(NBodyPartitions, AreThoseThatWereTheFastestOnAnH200) {
    struct Case {
        std::size_t n;
        int bodies;
        unsigned rows, columns;
    };
    for (const Case& c :
         {Case{4096, 2, 16, 8}, {16384, 4, 49, 16}, {65536, 4, 37, 64}, {262144, 4, 17, 256}}) {
        const NBodyPartition shape = NBodyPartition::best(gpu_with(132), c.n);
        EXPECT_EQ(shape.bodies, c.bodies) << c.n;
        EXPECT_EQ(shape.rows, c.rows) << c.n;
        EXPECT_EQ(shape.columns_of(c.n), c.columns) << c.n;
        const double waves = double(c.columns * shape.rows_of(c.n)) / (c.bodies == 4 ? 396 : 132);
        EXPECT_GT(waves / std::ceil(waves), 0.96) << c.n;
    }
}

// On two GPUs each moves half of the bodies: more rows make whole waves of the blocks.
TEST(NBodyPartitions, FillTheWavesOfAShareToo) {
    struct Case {
        std::size_t n;
        unsigned rows;
    };
    for (const Case& c : {Case{16384, 49}, {65536, 37}, {262144, 34}, {1048576, 10}}) {
        const NBodyPartition shape = NBodyPartition::best(gpu_with(132), c.n, c.n / 2);
        EXPECT_EQ(shape.bodies, 4) << c.n;
        EXPECT_EQ(shape.rows, c.rows) << c.n;
        const double waves = double(shape.columns_of(c.n / 2) * shape.rows_of(c.n)) / 396;
        EXPECT_GT(waves / std::ceil(waves), 0.98) << c.n;
        EXPECT_LE(shape.partial_bytes(c.n), std::size_t(1) << 30);
    }
}

TEST(NBodyPartitions, TakeEveryBodyOnceAndNoMoreRoomThanPromised) {
    for (const int multiprocessors : {0, 1, 16, 58, 132, 188})
        for (const std::size_t n : {1, 63, 1000, 4097, 8191, 8192, 50000, 131072, 1 << 20}) {
            const NBodyPartition shape = NBodyPartition::best(gpu_with(multiprocessors), n);
            const unsigned rows = shape.rows_of(n);
            const auto share = std::size_t(shape.share_of(n));
            EXPECT_GE(rows * share, n);
            EXPECT_LT((rows - 1) * share, n) << "a row without bodies";
            EXPECT_GE(shape.columns_of(n) * std::size_t(shape.bodies) * 256, n);
            EXPECT_EQ(share % (shape.bodies == 4 ? 2 : 16), 0u);
            EXPECT_LE(shape.partial_bytes(n), NBodyPartition::most_partial_bytes(n));
            EXPECT_LE(shape.partial_bytes(n), std::max<std::size_t>(128 << 20, n * 16));
        }
}

TEST(NBodyPartitions, HaveTwoRowsOnTheEmulator) {
    compute::DeviceInfo emulator = gpu_with(29);
    emulator.kind = compute::DeviceKind::emulator;
    EXPECT_EQ(NBodyPartition::best(emulator, 4096).rows, 2u);
    EXPECT_EQ(NBodyPartition::best(emulator, 65536).rows, 2u);
    EXPECT_EQ(NBodyPartition::best(emulator, 64).rows, 1u);
}

}  // namespace
}  // namespace warpscope::experiments
