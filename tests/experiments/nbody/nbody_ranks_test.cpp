#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "experiments/nbody/nbody.h"
#include "experiments/nbody/nbody_check.h"
#include "experiments/nbody/nbody_order.h"
#include "experiments/nbody/nbody_picture.h"
#include "support/ranks.h"

namespace warpscope::experiments {
namespace {

constexpr float rank_eps = 0.02f;

bool equal_bits(const Bodies& a, const Bodies& b) {
    return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(Body)) == 0;
}

Bodies moved(compute::Device& device, NBodyKernel kernel, const Bodies& start) {
    NBodyState state(device, kernel, start);
    for (int i = 0; i < 3; ++i) state.step(64, 0.01f, rank_eps);
    return state.download();
}

// The emulator divides the sums of `fast` into two parts whatever the number of ranks.
TEST(NBodyRanks, MoveTheBodiesAsOneDeviceDoes) {
    const auto one = tests::emulators(1), three = tests::emulators(3);
    for (const std::size_t n : {1, 2, 3, 500}) {
        const Bodies start = plummer_sphere(n, 7);
        for (const NBodyKernel kernel : all_nbody_kernels) {
            const Bodies expected = moved(*one, kernel, start);
            EXPECT_TRUE(equal_bits(moved(*three, kernel, start), expected))
                << n << " bodies, " << name_of(kernel);
        }
    }
}

TEST(NBodyRanks, MoveOnlyTheirShare) {
    const auto device = tests::emulators(3);
    const Bodies start = plummer_sphere(10, 7);
    NBodyState state(*device, NBodyKernel::float4, start);
    ASSERT_EQ(state.ranks().size(), 3u);
    EXPECT_EQ(state.ranks()[2].share(), (BodyShare{6, 4}));
    state.step(32, 0.01f, rank_eps);
    for (const compute::Device* rank : device->exchange()->devices()) {
        compute::Device& own = const_cast<compute::Device&>(*rank);
        EXPECT_EQ(own.timings().find("nbody_float4")->grid.x, 1u);
    }
}

TEST(NBodyRanks, GiveEachRankAllPositionsAndThePictureOfOneDevice) {
    const Bodies start = rotating_disk(301, 3);
    const auto draw = [&](compute::Device& device) {
        NBodyState state(device, NBodyKernel::tiled, start);
        state.step(64, 0.01f, rank_eps);
        compute::Buffer<Rgba> pixels(device, 64 * 48);
        NBodyPicture(device).draw(state, {{30, 40, 4}, 1, 1, {64, 48}}, pixels.pointer());
        const std::vector<Rgba> colours = pixels.download();
        std::vector<int> sums;
        for (const Rgba& c : colours) sums.push_back(c.r * 65536 + c.g * 256 + c.b);
        return sums;
    };
    const auto one = tests::emulators(1), four = tests::emulators(4);
    const std::vector<int> expected = draw(*one);
    EXPECT_GT(std::ranges::max(expected), 0x404040);
    EXPECT_EQ(draw(*four), expected);
}

TEST(NBodyRanks, PassTheCheckOfAStep) {
    const auto device = tests::emulators(2);
    const StepReference reference = make_reference(plummer_sphere(99, 2), rank_eps, 1e9);
    for (const NBodyKernel kernel : all_nbody_kernels)
        EXPECT_TRUE(check_step(*device, kernel, 64, reference).passed()) << name_of(kernel);
}

TEST(NBodyRanks, AreLeftOutByAStateOnOne) {
    const auto device = tests::emulators(3), one = tests::emulators(1);
    const Bodies start = plummer_sphere(99, 2);
    NBodyState state = NBodyState::on_one(*device, NBodyKernel::tiled, start);
    ASSERT_EQ(state.ranks().size(), 1u);
    EXPECT_EQ(state.ranks()[0].share(), (BodyShare{0, 99}));
    for (int i = 0; i < 3; ++i) state.step(64, 0.01f, rank_eps);
    EXPECT_TRUE(equal_bits(state.download(), moved(*one, NBodyKernel::tiled, start)));
}

TEST(NBodyRanks, AreComparedWithOneOfThem) {
    const auto device = tests::emulators(2);
    NBody nbody(*device);
    nbody.set(std::vector<Assignment>{{"bodies", "512"}, {"kernel", "unrolled"}});
    const auto comparison = nbody.compare();
    ASSERT_EQ(comparison->rows.size(), 10u);
    const Comparison::Row &all = comparison->rows[4], &one = comparison->rows[9];
    EXPECT_EQ(one.id, "unrolled_on_one");
    EXPECT_EQ(one.verdict, Verdict::pass);
    // A thread loads a body of each tile whether it moves half of the bodies or all.
    EXPECT_DOUBLE_EQ(one.counts->instructions, all.counts->instructions);
    EXPECT_EQ(comparison->scaling.rfind("unrolled: 2 ranks take ", 0), 0u) << comparison->scaling;
}

TEST(NBodyRanks, HaveTheMemoryOfTheSmallest) {
    auto device = compute::make_emulated_device("rank 0");
    compute::Company company;
    company.devices.push_back(compute::make_emulated_device({.memory_bytes = 1000}));
    device->set_exchange(compute::HostExchange::make(*device, std::move(company)));
    EXPECT_EQ(device->info().memory_bytes, 1000u);
    EXPECT_THROW(NBodyState::require_room(*device, 100), compute::OutOfMemory);
}

TEST(NBodyRanks, ReportATimeEach) {
    const auto device = tests::emulators(2);
    NBodyState state(*device, NBodyKernel::tiled, plummer_sphere(99, 2));
    state.step(64, 0.01f, rank_eps);
    const std::vector<RankTime> times = rank_times(state);
    ASSERT_EQ(times.size(), 2u);
    for (const RankTime& time : times) EXPECT_GT(time.compute, 0);
}

TEST(RankTimes, AStepInTwoLaunchesTakesTheTimeOfBoth) {
    const auto device = tests::emulators(1);
    NBodyRank rank(*device, NBodyKernel::tiled, {}, plummer_sphere(256, 7), {0, 256});
    const NBodyStep step{.block = 128, .dt = 0.01f, .eps = rank_eps};
    rank.find_forces(0, 128, step);
    rank.find_forces(128, 128, step);
    const compute::KernelTiming* launch = device->timings().find("nbody_tiled");
    ASSERT_NE(launch, nullptr);
    EXPECT_DOUBLE_EQ(compute_ms(rank, 1), 2.0 * double(launch->last_ms()));
}

TEST(RankTimes, TheLastRankWaitsForNobody) {
    const auto times =
        without_waiting({{.compute = 5, .exchange = 3}, {.compute = 7, .exchange = 1}});
    EXPECT_EQ(times[0].exchange, 1);
    EXPECT_EQ(times[0].waiting, 2);
    EXPECT_EQ(times[1].exchange, 1);
    EXPECT_EQ(times[1].waiting, 0);
}

}  // namespace
}  // namespace warpscope::experiments
