#pragma once

#include <array>
#include <map>
#include <utility>

#include "experiments/framework/experiment.h"
#include "experiments/ripple/ripple_parameters.h"

namespace warpscope::experiments {

/// The bitmap of "CUDA by Example", section 5.3.3: each block passes a tile of the picture through
/// shared memory, with or without the barrier that makes it right. Every frame is computed
/// twice, by the kernel that the parameters choose and by the built-in kernel with the barrier, and
/// the two are compared on the device.
class Ripple : public Experiment {
  public:
    using Parameters = RippleParameters;
    explicit Ripple(compute::Device& device);

    const Parameters& parameters() const override { return chosen_; }
    void launch_kernel() override;
    /// The picture, which should be that of the built-in kernel with the barrier.
    std::vector<KnownResult> known_results() override;
    Size picture_size(Size view) const override;
    void render_into(const PixelTarget& target) override;
    Report report() override;
    /// Compares the tile layouts, with their barrier.
    std::optional<Comparison> compare() override;
    /// Returns the times of the warps of one block, measured by the kernels of the stamped tile.
    std::optional<Timeline> timeline() override;

    /// The times that the stamped kernels store for each warp of the timed block, with the members
    /// of struct WarpTimes of kernels/ripple_stamped.cu: in clocks of its SM; on the emulator, in
    /// instructions of its block.
    struct WarpTimes {
        std::int64_t began, woke, arrived, left, resumed, ended;
        std::int64_t multiprocessor;
    };
    static constexpr unsigned warps = 8;  ///< the warps of a block

  private:
    using View = Parameters::View;
    using DelayBefore = Parameters::DelayBefore;
    using Pixels = compute::DevicePointer<Rgba>;
    using Counter = compute::DevicePointer<unsigned>;
    using Mask = compute::DevicePointer<std::uint8_t>;
    /// The members are those of struct Watch of kernels/ripple_stamped.cu.
    struct Watch {
        unsigned first_stamp, late_writers, late_readers;
        int delay;
        unsigned timed_block;
        Counter stale_count;
        Mask stale_mask;
        compute::DevicePointer<WarpTimes> times;
    };
    using Draw = compute::Kernel<Pixels, int, int, float, int>;
    using DrawStamped = compute::Kernel<Pixels, int, int, float, int, Watch>;
    using Compare =
        compute::Kernel<Pixels, Pixels, Pixels, Pixels, Mask, Pixels, int, int, int, Counter>;

    /// Pictures of size*size pixels and the counts of the last `window` launches.
    struct State {
        State(compute::Device& device, std::size_t pixels, std::size_t window);
        compute::Buffer<Rgba> shown, reference;
        compute::Buffer<Rgba> other;             ///< the right half of the split view
        compute::Buffer<unsigned> wrong, stale;  ///< a slot for each launch of the window
        compute::Buffer<std::uint8_t> stale_mask;
        compute::Buffer<WarpTimes> times;
        std::uint64_t launches = 0;
        /// The slot of the next launch.
        std::size_t slot() const { return launches % wrong.size(); }
    };

    void changed(std::span<Parameter* const> which) override;
    bool leaves_trace(std::span<Parameter* const> which) const override;
    std::any save_state() override;
    void load_state(const std::any& state) override;
    void do_step() override;
    void do_reset() override;

    View shown_view() const;
    /// Returns one bit for each warp that is delayed before this moment.
    unsigned warps_delayed_before(DelayBefore moment) const;
    compute::Dim3 timed_block() const;
    Watch watch();
    /// Loaded when they are first used: not every GPU has all of them.
    const Draw& kernel(std::size_t layout, bool sync);
    const Draw& reference_kernel(std::size_t layout);
    void draw(const compute::Buffer<Rgba>& into, std::size_t layout, bool sync);
    /// The layout of the kernel that the picture is compared with.
    std::size_t reference_layout() const;
    /// Draws into state_->reference with the built-in kernel.
    void draw_reference(std::size_t layout);
    /// Returns the current pictures of the layout, without the barrier and with it.
    std::pair<Pixels, Pixels> draw_halves(std::size_t layout);
    void render_if_changed();
    /// Reports newest, median, minimum and maximum of the launches, in percent of the pixels.
    Report spread(const std::string& name, const files::Sentence& label,
                  const compute::Buffer<unsigned>& counts) const;
    files::Sentence barrier_place() const;
    files::Sentence barrier() const;  ///< its name and place
    void judge_wrong(Reading& wrong) const;
    void judge_edited(Reading& wrong) const;
    void judge_stale(Reading& stale) const;

    Parameters chosen_;

    std::map<std::pair<std::size_t, bool>, Draw> draws_;  ///< by layout and barrier
    std::map<std::size_t, Draw> references_;              ///< by layout
    std::array<DrawStamped, 2> stamped_draws_;
    Compare compare_;
    SharedMemoryCleaner cleaner_;

    std::optional<State> state_;
    compute::Buffer<Rgba> scratch_;  ///< the target if a report comes before a picture
    std::optional<std::uint64_t> rendered_frame_;
    double ticks_ = 0;
    unsigned next_stamp_ = 1;
};

}  // namespace warpscope::experiments
