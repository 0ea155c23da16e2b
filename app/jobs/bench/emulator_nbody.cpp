#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>

#include "experiments/bodies/bodies.h"
#include "experiments/nbody/nbody_state.h"
#include "jobs/bench/emulator_rows.h"
#include "jobs/bench/scalar_loops.h"

namespace warpscope::jobs {

namespace {

using compute::Math;
using experiments::NBodyKernel;

/// Steps of bodies that start as a Plummer sphere.
class NBody {
  public:
    NBody(Math math, NBodyKernel kernel, std::size_t n)
        : device_(make_emulator(math)),
          start_(experiments::plummer_sphere(n, 1)),
          state_(*device_, kernel, start_) {
        for (const experiments::Body& b : start_) {
            position_.push_back({b.position[0], b.position[1], b.position[2], b.mass});
            velocity_.push_back({b.velocity[0], b.velocity[1], b.velocity[2], 0});
        }
        new_position_.resize(std::min(n, plain_bodies));
        new_velocity_.resize(new_position_.size());
    }

    compute::EmulatedDevice& device() { return *device_; }
    void step() {
        state_.step(256, dt, eps);
        device_->synchronize();
    }
    void step_plain() { scalar_nbody(new_position_, new_velocity_, position_, velocity_, dt, eps); }
    /// The number of bodies, divided by the number that step_plain() moves.
    double plain_steps() const { return double(start_.size()) / double(new_position_.size()); }
    /// Throws if a step from the start differs from the plain step by more than rounding errors.
    void check() {
        experiments::NBodyState once(*device_, state_.kernel(), start_);
        once.step(256, dt, eps);
        step_plain();
        const experiments::Bodies emulated = once.download();
        for (std::size_t i = 0; i < new_position_.size(); ++i) {
            if (!near(emulated[i].position, new_position_[i], position_[i]) ||
                !near(emulated[i].velocity, new_velocity_[i], velocity_[i]))
                throw std::runtime_error(
                    fmt::format("the emulated n-body differs from the plain loop at body {}", i));
        }
    }

  private:
    static constexpr std::size_t plain_bodies = 4096;
    static constexpr float dt = 1e-3F, eps = 0.05F;

    /// Compares the changes of a vector, which are small beside the vector itself.
    static bool near(const std::array<float, 3>& a, const Float4& b, const Float4& before) {
        const double change = std::hypot(b.x - before.x, b.y - before.y, b.z - before.z);
        const double size = std::hypot(b.x, b.y, b.z);
        return std::hypot(a[0] - b.x, a[1] - b.y, a[2] - b.z) <= 1e-3 * change + 2e-7 * size;
    }

    std::unique_ptr<compute::EmulatedDevice> device_;
    experiments::Bodies start_;
    experiments::NBodyState state_;
    std::vector<Float4> position_, velocity_, new_position_, new_velocity_;
};

/// The name, label, goal and note of `kernel`, with the number of interactions of a step.
Measured of_bodies(Measured kernel, std::size_t n) {
    kernel.work = double(n) * double(n) / 1e9;
    kernel.unit = "G interactions/s";
    return kernel;
}

Pair measure(std::vector<BenchRow>& rows, NBody& nbody, const Measured& kernel) {
    Pair pair = measure_pair([&] { nbody.step(); }, [&] { nbody.step_plain(); });
    pair.second_ms *= nbody.plain_steps();
    nbody.check();
    add_rows(rows, kernel, pair);
    add_compiled_row(rows, kernel, [&] { nbody.step(); });
    return pair;
}

}  // namespace

void bench_emulated_nbody(std::vector<BenchRow>& rows) {
    constexpr std::size_t n = 4096, many = 65536;
    const Measured shown =
        of_bodies({.name = "nbody", .label = "n-body tiled 4096, fast math", .wanted = 1.0}, n);
    NBody nbody(Math::fast, NBodyKernel::tiled, n);
    measure(rows, nbody, shown);
    add_observed_rows(
        rows, nbody.device(), shown, [&] { nbody.step(); }, 1.4);

    // 64 blocks for the threads of the host; 4096 bodies have 16 blocks.
    constexpr std::size_t in_many_blocks = 16384;
    NBody scaled(Math::fast, NBodyKernel::tiled, in_many_blocks);
    add_scaling_rows(
        rows,
        of_bodies({.name = "nbody_16384", .label = "n-body tiled 16 384, fast math"},
                  in_many_blocks),
        [&] { scaled.step(); }, [&] { scaled.step_plain(); });

    const Measured exact = of_bodies({.name = "nbody_precise",
                                      .label = "n-body tiled 4096, precise math",
                                      .note = "root and division are rounded as IEEE 754 demands"},
                                     n);
    NBody precise(Math::precise, NBodyKernel::tiled, n);
    add_pocl_rows(rows, exact, measure(rows, precise, exact).first_ms, "nbody");

    const std::string note = "rsqrt.approx : sqrtf and a division";
    NBody fast(Math::precise, NBodyKernel::fast, n);
    measure(rows, fast,
            of_bodies({.name = "nbody_fast", .label = "n-body fast 4096", .note = note}, n));
    NBody large(Math::precise, NBodyKernel::fast, many);
    measure(rows, large,
            of_bodies({.name = "nbody_fast_65536",
                       .label = "n-body fast 65 536",
                       .note = note + "; the loop moves 4096 bodies"},
                      many));
}

}  // namespace warpscope::jobs
