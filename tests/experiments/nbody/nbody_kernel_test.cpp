#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <numeric>

#include "compute/device/kernel_files.h"
#include "experiments/nbody/nbody_check.h"
#include "experiments/nbody/nbody_state.h"
#include "experiments/nbody/uneven_bodies.h"
#include "support/devices.h"

namespace warpscope::experiments {
namespace {

using std::numbers::pi;

constexpr std::size_t body_counts[] = {1, 2, 31, 32, 33, 255, 256, 257, 1000, 4097};
constexpr unsigned blocks[] = {32, 96, 256, 1024};

/// The accelerations that a kernel finds, as check_step takes them.
std::vector<Vector> accelerations(compute::Device& device, NBodyKernel kernel, unsigned block,
                                  Bodies bodies) {
    for (Body& body : bodies) body.velocity = {};
    NBodyState state(device, kernel, bodies);
    state.step(block, 1.0f, eps);
    std::vector<Vector> found;
    for (const Body& body : state.download())
        found.push_back({body.velocity[0], body.velocity[1], body.velocity[2]});
    return found;
}

/// Two bodies of masses 0.75 and 0.25 at distance 1 that circle their centre of mass with angular
/// speed `omega`: positions of time 0 and velocities of half a step before, as the scheme pairs
/// them.
Bodies circling_pair(double omega, double dt) {
    const double back = -omega * dt / 2;
    const auto body = [&](double x, float mass) {
        const double v = x * omega;
        return Body{
            {float(x), 0, 0}, {float(-v * std::sin(back)), float(v * std::cos(back)), 0}, mass};
    };
    return {body(0.25, 0.75f), body(-0.75, 0.25f)};
}

class NBodyKernels : public tests::OnDevices {};
WARPSCOPE_ON_DEVICES(NBodyKernels);

TEST_P(NBodyKernels, ForcesAgreeWithTheReference) {
    for (std::size_t n : body_counts) {
        const StepReference reference = make_reference(uneven(n), eps, all_pairs);
        for (NBodyKernel kernel : all_nbody_kernels) {
            for (unsigned block : blocks) {
                const StepError error = check_step(device(), kernel, block, reference);
                EXPECT_TRUE(error.passed())
                    << name_of(kernel) << " of " << n << " in blocks of " << block << ": "
                    << error.relative << " > " << error.tolerance;
                EXPECT_EQ(error.checked, n);
            }
        }
    }
}

TEST_P(NBodyKernels, FastMathStaysWithinTheTolerance) {
    device().set({.math = compute::Math::fast});
    const StepReference reference = make_reference(uneven(1000), eps, all_pairs);
    for (NBodyKernel kernel : all_nbody_kernels) {
        const StepError error = check_step(device(), kernel, 256, reference);
        EXPECT_TRUE(error.passed()) << name_of(kernel) << ": " << error.relative;
    }
}

TEST_P(NBodyKernels, TheToleranceNoticesMutations) {
    for (std::size_t n : {33, 257, 4096}) {
        const Bodies right = uneven(n);
        const StepReference reference = make_reference(right, eps, all_pairs);
        for (NBodyKernel kernel : all_nbody_kernels) {
            SCOPED_TRACE(std::string(name_of(kernel)) + " of " + std::to_string(n));
            Bodies wrong_mass = right;
            wrong_mass[n / 2].mass *= 1.5f;
            EXPECT_FALSE(
                compare_with(reference, accelerations(device(), kernel, 96, wrong_mass)).passed());

            auto swapped = accelerations(device(), kernel, 96, right);
            for (Vector& a : swapped) std::swap(a[0], a[1]);
            EXPECT_FALSE(compare_with(reference, swapped).passed());

            Bodies unequal = right;
            unequal[n - 1].position[0] += 1e-2f;
            EXPECT_FALSE(
                compare_with(reference, accelerations(device(), kernel, 96, unequal)).passed());
        }
    }
}

TEST_P(NBodyKernels, TheToleranceNoticesOneWrongMassAmongMany) {
    const Bodies right = plummer_sphere(16384, 1);
    const StepReference reference = make_reference(right, 0.02f, all_pairs);
    EXPECT_TRUE(check_step(device(), NBodyKernel::tiled, 256, reference).passed());
    StepReference wrong = reference;
    wrong.bodies[5000].mass *= 1.5f;
    EXPECT_FALSE(check_step(device(), NBodyKernel::tiled, 256, wrong).passed());
}

// The pulls of a far galaxy are nearly equal: onto a near black hole's they round the same way.
TEST_P(NBodyKernels, TheToleranceAllowsForEqualRoundings) {
    const StepReference reference = make_reference(colliding_galaxies(16384, 1), 0.01f, all_pairs);
    const StepError error = check_step(device(), NBodyKernel::tiled, 256, reference);
    EXPECT_TRUE(error.passed()) << error.relative << " > " << error.tolerance;
}

// As if the loop over tiles ran n / block times, as the tutorial's kernel does: the last 8 of 1000
// are missed.
TEST_P(NBodyKernels, TheToleranceNoticesAMissingLastTile) {
    const Bodies right = uneven(1000);
    StepReference reference = make_reference(right, eps, all_pairs);
    Bodies cut = right;
    for (std::size_t i = 992; i < 1000; ++i) cut[i].mass = 0;
    EXPECT_FALSE(
        compare_with(reference, accelerations(device(), NBodyKernel::tiled, 32, cut)).passed());
}

TEST_P(NBodyKernels, ANaNNeverPasses) {
    const Bodies bodies = uneven(64);
    const StepReference reference = make_reference(bodies, eps, all_pairs);
    auto found = accelerations(device(), NBodyKernel::tiled, 32, bodies);
    found[40][1] = std::nan("");
    EXPECT_FALSE(compare_with(reference, found).passed());
}

/// PTX of kernels/nbody.cu without the tiled kernel's barrier `number`, 0 or 1.
std::string ptx_without_barrier(int number) {
    std::string ptx(compute::kernel_ptx("nbody", compute::Math::precise));
    std::size_t at = ptx.find("bar.sync", ptx.find(".entry nbody_tiled"));
    for (int i = 0; i < number; ++i) at = ptx.find("bar.sync", at + 1);
    ptx.replace(at, 2, "//");
    return ptx;
}

// The tile is written and read by different warps, so both barriers are needed.
TEST_P(NBodyKernels, EachRemovedBarrierGivesWrongForces) {
    using Floats = compute::DevicePointer<float>;
    const int n = 4096;
    const Bodies bodies = uneven(n);
    const StepReference reference = make_reference(bodies, eps, all_pairs);
    const NBodyState at_rest(device(), NBodyKernel::tiled, reference.bodies);
    compute::Buffer<float> position(device(), 4 * n), velocity(device(), 4 * n);
    const auto passes = [&](const auto& kernel) {
        device().launch(kernel, {{4}, {1024}, 1024 * 16}, {}, position.pointer(),
                        velocity.pointer(), at_rest.ranks().front().positions(),
                        at_rest.ranks().front().velocities(), n, 0, 1.0f, eps);
        std::vector<Vector> found;
        const auto values = velocity.download();
        for (std::size_t i = 0; i < n; ++i)
            found.push_back({values[4 * i], values[4 * i + 1], values[4 * i + 2]});
        return compare_with(reference, found).passed();
    };
    const auto without = [&](int barrier) {
        return device().kernel_from_ptx<Floats, Floats, Floats, Floats, int, int, float, float>(
            ptx_without_barrier(barrier), "nbody_tiled");
    };
    EXPECT_TRUE(passes(device().kernel<Floats, Floats, Floats, Floats, int, int, float, float>(
        "nbody", "nbody_tiled")));
    for (int barrier : {0, 1}) {
        bool noticed = false;
        for (int launch = 0; launch < 20 && !noticed; ++launch) noticed = !passes(without(barrier));
        EXPECT_TRUE(noticed) << "barrier " << barrier;
    }
}

// v += a dt and then x += v dt with the new v, both from the old state.
TEST_P(NBodyKernels, StepIsSemiImplicitEuler) {
    const double dt = 0.125;
    const Bodies before = uneven(100);
    std::vector<std::size_t> all(before.size());
    std::iota(all.begin(), all.end(), 0);
    const auto pulls = reference_pulls(before, eps, all);
    for (NBodyKernel kernel : all_nbody_kernels) {
        NBodyState state(device(), kernel, before);
        state.step(64, float(dt), eps);
        const Bodies after = state.download();
        for (std::size_t i = 0; i < before.size(); ++i) {
            for (int k = 0; k < 3; ++k) {
                const double v = before[i].velocity[k] + pulls[i].acceleration[k] * dt;
                EXPECT_NEAR(after[i].velocity[k], v, 2e-6 * (1 + std::abs(v)));
                const double x = before[i].position[k] + v * dt;
                EXPECT_NEAR(after[i].position[k], x, 2e-6 * (1 + std::abs(x)));
            }
            EXPECT_EQ(after[i].mass, before[i].mass);
        }
    }
}

TEST_P(NBodyKernels, AgreeAndDoNotDependOnTheBlock) {
    const Bodies start = uneven(257);
    const auto run = [&](NBodyKernel kernel, unsigned block) {
        NBodyState state(device(), kernel, start);
        for (int i = 0; i < 5; ++i) state.step(block, 0.01f, eps);
        return state.download();
    };
    const Bodies tiled = run(NBodyKernel::tiled, 256);
    for (NBodyKernel kernel : all_nbody_kernels) {
        for (unsigned block : {32u, 96u, 1024u}) {
            const Bodies other = run(kernel, block);
            for (std::size_t i = 0; i < start.size(); ++i)
                for (int k = 0; k < 3; ++k)
                    ASSERT_NEAR(other[i].position[k], tiled[i].position[k], 1e-6)
                        << name_of(kernel) << " in blocks of " << block;
        }
    }
}

// Centripetal force: omega^2 = (m1 + m2) / (1 + eps^2)^(3/2). After half a period both bodies stand
// opposite, after a whole one they are back. The scheme's phase error is (omega dt)^2 / 24 a
// radian: 3e-6 a turn.
TEST_P(NBodyKernels, TwoBodiesReturnAfterOnePeriod) {
    const double softening = 0.05;
    const double omega = std::pow(1 + softening * softening, -0.75);
    const int steps = 2000;
    const double dt = 2 * pi / omega / steps;
    for (NBodyKernel kernel : all_nbody_kernels) {
        SCOPED_TRACE(name_of(kernel));
        NBodyState state(device(), kernel, circling_pair(omega, dt));
        const auto expect_after = [&](int count, double turn) {
            for (int i = 0; i < count; ++i) state.step(32, float(dt), float(softening));
            const Bodies now = state.download();
            const double radii[] = {0.25, -0.75};
            for (int i = 0; i < 2; ++i) {
                EXPECT_NEAR(now[i].position[0], radii[i] * std::cos(2 * pi * turn), 5e-5) << turn;
                EXPECT_NEAR(now[i].position[1], radii[i] * std::sin(2 * pi * turn), 5e-5) << turn;
            }
        };
        expect_after(steps / 2, 0.5);
        expect_after(steps / 2, 1);
        expect_after(steps / 4, 1.25);
    }
}

TEST_P(NBodyKernels, ConserveMomentumAndEnergy) {
    const Bodies start = uneven(300);
    for (NBodyKernel kernel : all_nbody_kernels) {
        NBodyState state(device(), kernel, start);
        Drift drift;
        drift.begin(start, eps, 0);
        for (int i = 0; i < 100; ++i) state.step(96, 0.001f, eps);
        const Bodies now = state.download();
        EXPECT_LT(drift.momentum(now), 1e-6) << name_of(kernel);
        EXPECT_GT(drift.momentum(now), 0) << name_of(kernel);
        EXPECT_LT(std::abs(drift.energy(now, 100, now.size())), 2e-3) << name_of(kernel);

        Bodies pushed = now;
        pushed[3].velocity[0] += 1;
        EXPECT_GT(drift.momentum(pushed), 1e-3);
    }
}

}  // namespace
}  // namespace warpscope::experiments
