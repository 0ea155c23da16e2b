#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <stdexcept>

#include "bench/bench_emulator.h"
#include "bench/scalar_loops.h"
#include "experiments/bodies/bodies.h"
#include "experiments/framework/experiment.h"
#include "experiments/framework/frame_cost.h"
#include "experiments/nbody/nbody_state.h"
#include "experiments/sums/reduction.h"

namespace warpscope::bench {
namespace {

/// The spheres of the ripple on a picture of size * size pixels.
class Ripple {
  public:
    Ripple(compute::Math math, int size)
        : size_(size),
          device_(make_emulator(math)),
          kernel_(device_->kernel<Pointer, int, int, float, int>("ripple", "ripple_txty")),
          pixels_(*device_, std::size_t(size) * size),
          plain_(pixels_.size() * 4) {}

    compute::EmulatedDevice& device() { return *device_; }
    void draw() {
        const unsigned blocks = unsigned(size_) / 16;
        device_->launch(kernel_, {{blocks, blocks}, {16, 16}}, {.bytes = 4.0 * size_ * size_},
                        pixels_.pointer(), size_, size_, 0.0F, 0);
        device_->synchronize();
    }
    void draw_plain() { scalar_ripple(plain_, size_); }
    /// Throws if the two pictures differ.
    void check() const {
        const std::vector<Rgba> emulated = pixels_.download();
        for (std::size_t i = 0; i < emulated.size(); ++i) {
            // The results of the two cosines may differ from sinf's by one shade.
            if (std::abs(emulated[i].g - plain_[4 * i + 1]) > 1)
                throw std::runtime_error(fmt::format(
                    "the emulated ripple differs from the plain loop at pixel {}: {} and {}", i,
                    emulated[i].g, plain_[4 * i + 1]));
        }
    }

  private:
    using Rgba = experiments::Rgba;
    using Pointer = compute::DevicePointer<Rgba>;

    int size_;
    std::unique_ptr<compute::EmulatedDevice> device_;
    compute::Kernel<Pointer, int, int, float, int> kernel_;
    compute::Buffer<Rgba> pixels_;
    std::vector<std::uint8_t> plain_;
};

Pair measure(std::vector<BenchRow>& rows, Ripple& ripple, const Measured& kernel) {
    const Pair pair = measure_pair([&] { ripple.draw(); }, [&] { ripple.draw_plain(); });
    ripple.check();
    add_rows(rows, kernel, pair);
    add_compiled_row(rows, kernel, [&] { ripple.draw(); });
    return pair;
}

}  // namespace

void bench_emulated_ripple(std::vector<BenchRow>& rows) {
    const std::string fast_note = "cos.approx : sinf of an angle from 0 to 2 pi";
    const std::string precise_note = "cospif : sinf of an angle from 0 to 2 pi";
    const Measured shown{
        .name = "ripple", .label = "ripple 1024², fast math", .wanted = 2.6, .note = fast_note};
    Ripple ripple(compute::Math::fast, 1024);
    const double ms = measure(rows, ripple, shown).first_ms;
    rows.push_back({.name = "ripple_frames_per_second",
                    .label = shown.label + ", emulated",
                    .value = 1000 / ms,
                    .unit = "frames/s",
                    .bound = BenchRow::Bound::at_least,
                    .wanted = 100});
    add_scaling_rows(
        rows, shown, [&] { ripple.draw(); }, [&] { ripple.draw_plain(); });
    add_pocl_rows(rows, shown, ms, "ripple");
    add_observed_rows(
        rows, ripple.device(), shown, [&] { ripple.draw(); }, experiments::watched_factor);

    Ripple precise(compute::Math::precise, 1024);
    measure(
        rows, precise,
        {.name = "ripple_precise", .label = "ripple 1024², precise math", .note = precise_note});
    Ripple large(compute::Math::fast, 4096);
    measure(rows, large,
            {.name = "ripple_4096", .label = "ripple 4096², fast math", .note = fast_note});
    Ripple large_precise(compute::Math::precise, 4096);
    measure(rows, large_precise,
            {.name = "ripple_4096_precise",
             .label = "ripple 4096², precise math",
             .note = precise_note});
}

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

namespace {

constexpr std::size_t n = 1 << 20;

/// A kernel of the dot product or of the reduction, in blocks of 256 threads.
class Sum {
  public:
    Sum(const std::string& experiment, const std::string& kernel)
        : device_(make_emulator(compute::Math::precise)),
          experiment_(experiments::find_experiment(experiment).make(*device_)) {
        experiment_->set(std::vector<experiments::Assignment>{
            {"kernel", kernel}, {"n", std::to_string(n)}, {"block", "256"}});
    }

    compute::EmulatedDevice& device() { return *device_; }
    void add() {
        experiment_->step();
        device_->synchronize();
    }
    /// Throws if the newest sum is wrong.
    void check() {
        if (experiments::has_failure(experiment_->report()))
            throw std::runtime_error("an emulated sum is wrong");
    }

  private:
    std::unique_ptr<compute::EmulatedDevice> device_;
    std::unique_ptr<experiments::Experiment> experiment_;
};

/// The sum and the sum of the magnitudes of all terms.
struct Exact {
    double sum = 0, magnitudes = 0;
    void add(double term) {
        sum += term;
        magnitudes += std::abs(term);
    }
};

Pair measure(std::vector<BenchRow>& rows, Sum& sum, const Measured& kernel,
             const std::function<double()>& plain, const Exact& exact) {
    double plain_sum = 0;
    const Pair pair = measure_pair([&] { sum.add(); }, [&] { plain_sum = plain(); });
    sum.check();
    // Each term goes through at most 4096 additions in float.
    if (!(std::abs(plain_sum - exact.sum) <= 4096 * 0x1p-24 * exact.magnitudes))
        throw std::runtime_error(
            fmt::format("the plain loop's sum is {}, not {}", plain_sum, exact.sum));
    add_rows(rows, kernel, pair);
    add_compiled_row(rows, kernel, [&] { sum.add(); });
    return pair;
}

void bench_dot(std::vector<BenchRow>& rows) {
    std::vector<float> a(n), b(n);
    Exact exact;
    for (std::size_t i = 0; i < n; ++i) {
        a[i] = float(i);
        b[i] = 2 * float(i);
        exact.add(double(a[i]) * double(b[i]));
    }
    const Measured shuffle{.name = "dot_shuffle",
                           .label = "dot product shuffle 2^20",
                           .work = 8.0 * n / 1e9,
                           .unit = "GB/s"};
    Sum dot("dot", "shuffle");
    const Pair pair = measure(
        rows, dot, shuffle, [&] { return scalar_dot(a, b); }, exact);
    add_pocl_rows(rows, shuffle, pair.first_ms, "dot");
}

void bench_reductions(std::vector<BenchRow>& rows) {
    std::vector<float> values(n);
    Exact exact;
    for (std::size_t i = 0; i < n; ++i) {
        values[i] = experiments::reduction_input(i);
        exact.add(double(values[i]));
    }
    for (const std::string id : {"vectorized", "sequential"}) {
        const Measured kernel{.name = "reduction_" + id,
                              .label = "reduction " + id + " 2^20",
                              .work = 4.0 * n / 1e9,
                              .unit = "GB/s"};
        Sum sum("reduction", id);
        measure(
            rows, sum, kernel, [&] { return scalar_sum(values); }, exact);
        if (id == "sequential")
            add_observed_rows(
                rows, sum.device(), kernel, [&] { sum.add(); }, 1.6);
    }
}

}  // namespace

void bench_emulated_sums(std::vector<BenchRow>& rows) {
    bench_dot(rows);
    bench_reductions(rows);
}

}  // namespace warpscope::bench
