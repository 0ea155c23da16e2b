#include <fmt/format.h>

#include <cstdlib>
#include <stdexcept>

#include "experiments/framework/experiment.h"
#include "experiments/framework/frame_cost.h"
#include "jobs/bench/emulator_rows.h"
#include "jobs/bench/scalar_loops.h"

namespace warpscope::jobs {

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

}  // namespace warpscope::jobs
