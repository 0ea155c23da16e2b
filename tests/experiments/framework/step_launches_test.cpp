#include "experiments/nbody/nbody_state.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "experiments/bodies/bodies.h"
#include "support/devices.h"
#include "support/host_device.h"

namespace warpscope::experiments {
namespace {

using Calls = std::vector<std::pair<std::size_t, std::size_t>>;

class Gpu : public tests::HostDevice {
  public:
    Gpu() { info_.kind = compute::DeviceKind::cuda; }
};

class StepLaunchesTest : public testing::Test {
  protected:
    void let_a_person_cancel() { device_.set_launch_limits({.stop = stop_.get_token()}); }
    Calls calls_of(std::size_t n, std::size_t unit) {
        Calls calls;
        launches_.run(device_, n, unit, [&](std::size_t begin, std::size_t count) {
            device_.check_stop("the launch");
            calls.emplace_back(begin, count);
        });
        return calls;
    }

    Gpu device_;
    std::stop_source stop_;
    StepLaunches launches_;
};

TEST_F(StepLaunchesTest, AStepThatNobodyCanCancelIsOneLaunch) {
    EXPECT_EQ(calls_of(200'000, 1000), (Calls{{0, 200'000}}));
}

TEST_F(StepLaunchesTest, AShortStepIsOneLaunch) {
    let_a_person_cancel();
    EXPECT_EQ(calls_of(65'536, 1000), (Calls{{0, 65'536}}));
}

TEST_F(StepLaunchesTest, ALongStepBeginsWithOneUnitAndMovesEachBodyOnce) {
    let_a_person_cancel();
    // The launches take no time, so that each has twice the units of the one before.
    EXPECT_EQ(calls_of(65'537, 10'000), (Calls{{0, 10'000}, {10'000, 20'000}, {30'000, 35'537}}));
    EXPECT_EQ(calls_of(65'537, 10'000), (Calls{{0, 40'000}, {40'000, 25'537}}));
}

TEST_F(StepLaunchesTest, ACancelledStepLaunchesNothingMore) {
    let_a_person_cancel();
    Calls calls;
    const auto run = [&] {
        launches_.run(device_, 100'000, 1000, [&](std::size_t begin, std::size_t count) {
            device_.check_stop("the launch");
            calls.emplace_back(begin, count);
            stop_.request_stop();
        });
    };
    EXPECT_THROW(run(), compute::Cancelled);
    EXPECT_EQ(calls, (Calls{{0, 1000}}));
}

TEST(StepLaunchesTime, TheNextLaunchTakesTheWantedTimeAndGrowsAtMostTwofold) {
    EXPECT_EQ(StepLaunches::next_units(8, 0.16), 4U);
    EXPECT_EQ(StepLaunches::next_units(8, 0.08), 8U);
    EXPECT_EQ(StepLaunches::next_units(8, 0.06), 10U);
    EXPECT_EQ(StepLaunches::next_units(8, 0), 16U);
    EXPECT_EQ(StepLaunches::next_units(1, 10), 1U);
}

/// The kernels, launched for a part of the bodies.
class NBodyParts : public tests::OnDevices {
  protected:
    using Pointer = compute::DevicePointer<float>;
    static constexpr int n = 1500;
    static constexpr float dt = 0.01f, eps = 0.05f;

    std::vector<float> random_floats(std::size_t count) {
        std::vector<float> values;
        for (const Body& body : plummer_sphere(count / 4, 7))
            values.insert(values.end(), {body.position[0], body.position[1], body.position[2], 1});
        return values;
    }
};
WARPSCOPE_ON_DEVICES(NBodyParts);

TEST_P(NBodyParts, StepsInPartsEqualTheWholeStepBitForBit) {
    const compute::Buffer<float> position(device(), random_floats(4 * n)),
        velocity(device(), random_floats(4 * n));
    for (const auto& [file, name, bodies_of_block] :
         {std::tuple{"nbody", "nbody_tiled", 256}, std::tuple{"nbody", "nbody_float4", 256},
          std::tuple{"nbody_ladder", "nbody_rsqrt", 256},
          std::tuple{"nbody_ladder", "nbody_unrolled", 256},
          std::tuple{"nbody_ladder", "nbody_several", 1024}}) {
        SCOPED_TRACE(name);
        const auto kernel =
            device().kernel<Pointer, Pointer, Pointer, Pointer, int, int, float, float>(file, name);
        const auto moved = [&](std::vector<int> begins) {
            compute::Buffer<float> to(device(), 4 * n), velocity_to(device(), 4 * n);
            begins.push_back(n);
            for (std::size_t i = 0; i + 1 < begins.size(); ++i) {
                const int count = begins[i + 1] - begins[i];
                compute::LaunchShape shape;
                shape.grid.x = unsigned((count + bodies_of_block - 1) / bodies_of_block);
                shape.block.x = 256;
                shape.dynamic_shared_bytes = 256 * 4 * sizeof(float);
                device().launch(kernel, shape, {}, to.pointer(), velocity_to.pointer(),
                                position.pointer(), velocity.pointer(), n, begins[i], dt, eps);
            }
            std::vector<float> all = to.download();
            const std::vector<float> more = velocity_to.download();
            all.insert(all.end(), more.begin(), more.end());
            return all;
        };
        const std::vector<float> whole = moved({0});
        EXPECT_EQ(moved({0, 1024}), whole);
        EXPECT_NE(whole, std::vector<float>(whole.size(), whole[0]));
    }
}

TEST_P(NBodyParts, PartialForcesInPartsEqualTheWholeBitForBit) {
    const compute::Buffer<float> position(device(), random_floats(4 * n));
    const auto kernel =
        device().kernel<Pointer, Pointer, int, int, float, int>("nbody_ladder", "nbody_fast");
    constexpr int rows = 2, share = n / rows;
    const auto forces = [&](std::vector<int> begins) {
        compute::Buffer<float> partial(device(), rows * 4 * n);
        begins.push_back(n);
        for (std::size_t i = 0; i + 1 < begins.size(); ++i) {
            compute::LaunchShape shape;
            shape.grid = {unsigned(begins[i + 1] - begins[i] + 1023) / 1024, rows};
            shape.block.x = 256;
            device().launch(kernel, shape, {}, partial.pointer(), position.pointer(), n, begins[i],
                            eps * eps, share);
        }
        return partial.download();
    };
    EXPECT_EQ(forces({0, 1024}), forces({0}));
}

}  // namespace
}  // namespace warpscope::experiments
