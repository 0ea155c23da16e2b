#pragma once

#include <array>

#include "experiments/experiment.h"
#include "experiments/measure.h"

namespace warpscope::experiments {

/// The bitmap of "CUDA by Example", section 5.3.3: each block passes a tile of the picture through
/// shared memory, with or without the barrier that makes it right. Every frame is computed twice,
/// as the parameters say and with the barrier, and compared on the device.
class Ripple : public Experiment {
  public:
    explicit Ripple(compute::Device& device);

    void launch_kernel() override;
    Size picture_size(Size view) const override;
    void render_into(const PixelTarget& target) override;
    Report report() override;
    /// The tile layouts, with their barrier.
    std::optional<Comparison> compare() override;

  private:
    enum class View { picture, wrong, split };
    using Pixels = compute::DevicePointer<Rgba>;
    using Counter = compute::DevicePointer<unsigned>;
    using Draw = compute::Kernel<Pixels, int, int, float, int>;
    using DrawStamped =
        compute::Kernel<Pixels, int, int, float, int, unsigned, compute::DevicePointer<unsigned>>;
    using Compare = compute::Kernel<Pixels, Pixels, Pixels, Pixels, int, int, int, Counter>;

    /// Pictures of size*size pixels and the counts of the last `window` launches.
    struct State {
        State(compute::Device& device, std::size_t pixels, std::size_t window);
        compute::Buffer<Rgba> shown, reference, without;
        compute::Buffer<unsigned> wrong;  ///< a slot for each launch of the window
        compute::Buffer<unsigned> stale;  ///< the same, and one more for all other launches
        std::uint64_t launches = 0;
    };

    void changed(std::span<Parameter* const> which) override;
    bool leaves_trace(std::span<Parameter* const> which) const override;
    void copy_state(Experiment& leader) override;
    void do_step() override;
    void do_reset() override;

    bool stamped() const;
    void draw(const compute::Buffer<Rgba>& into, std::size_t layout, bool sync, Counter stale);
    void add_stale_reads(Report& report, std::size_t newest);

    Choice pattern_;
    Toggle sync_;
    Choice layout_;
    Integer size_;
    Real speed_;
    Choice view_;
    Integer window_;

    std::vector<std::array<Draw, 2>> draws_;  ///< [layout][sync]
    std::array<DrawStamped, 2> stamped_draws_;
    Compare compare_;
    SharedMemoryCleaner cleaner_;

    std::optional<State> state_;
    compute::Buffer<Rgba> scratch_;  ///< target of a report without a picture
    std::optional<std::uint64_t> rendered_frame_;
    double ticks_ = 0;
    unsigned next_stamp_ = 1;
};

}  // namespace warpscope::experiments
