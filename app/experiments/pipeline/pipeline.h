#pragma once

#include <map>
#include <optional>

#include "experiments/framework/experiment.h"
#include "experiments/framework/parameter.h"

namespace warpscope::experiments {

struct PipelineParameters : ParameterSet {
    /// How tiles come into shared memory.
    enum class Copies { synchronous, async, bulk };
    enum class View { picture, wrong, source };
    /// The enumerators are those of kernels/pipeline.cu and kernels/pipeline_bulk.cu.
    enum Steps { wait_before_read = 1, commit_copies = 2, keep_tile = 4, fence_proxy = 8 };

    PipelineParameters();
    std::string kernel_file() const override { return file_of(copies); }
    double work() const override;

    /// The kernel file with the kernel that fills tiles in this way, and its name.
    static std::string file_of(Copies copies);
    static std::string kernel_of(Copies copies);
    /// A set of Steps.
    int steps() const;
    bool has_all_steps() const { return steps() == all_steps; }
    std::int64_t side() const;  ///< of the picture, in pixels

    static constexpr int all_steps = 15;

    ChoiceOf<Copies> copies;
    Integer stages;
    Toggle wait, commit, keep, fence;
    ChoiceOf<View> view;
    Choice size;
    Real speed;
};

/// A picture that is filtered through a ring of tiles, which asynchronous copies fill. Every frame
/// is filtered twice, by the kernel that the parameters choose and by the built-in kernel that
/// waits for each tile, and the two pictures are compared on the device.
class Pipeline : public Experiment {
  public:
    using Parameters = PipelineParameters;
    explicit Pipeline(compute::Device& device);

    const Parameters& parameters() const override { return chosen_; }
    void launch_kernel() override;
    /// The picture, which should be that of the built-in kernel that waits for each tile.
    std::vector<KnownResult> known_results() override;
    Size picture_size(Size view) const override;
    void render_into(const PixelTarget& target) override;
    Report report() override;
    /// Compares the kinds of copies, with all waits.
    std::optional<Comparison> compare() override;

  private:
    using View = Parameters::View;
    using Copies = Parameters::Copies;
    using Pixels = compute::DevicePointer<Rgba>;
    using Counter = compute::DevicePointer<unsigned>;
    using Mask = compute::DevicePointer<std::uint8_t>;
    using Filter = compute::Kernel<Pixels, Pixels, int>;
    using FilterInRing = compute::Kernel<Pixels, Pixels, int, int, int>;
    using Draw = compute::Kernel<Pixels, int, int>;
    using Compare =
        compute::Kernel<Pixels, Pixels, Pixels, Pixels, Mask, Pixels, int, int, int, Counter>;

    /// Pictures of size*size pixels; the source has margins.
    struct State {
        State(compute::Device& device, std::size_t pixels);
        compute::Buffer<Rgba> source, shown, reference;
        compute::Buffer<unsigned> wrong;
    };

    void changed(std::span<Parameter* const> which) override;
    bool leaves_trace(std::span<Parameter* const> which) const override;
    std::any save_state() override { return ticks_; }
    void load_state(const std::any& state) override { ticks_ = std::any_cast<double>(state); }
    void do_step() override;
    void do_reset() override;

    void draw_source();
    void filter(Copies copies, int steps, const compute::Buffer<Rgba>& into);
    void filter_synchronously(const Filter& kernel, const compute::Buffer<Rgba>& into);
    /// The kernel is loaded when it is first needed: an older GPU has none of the newest kind.
    const FilterInRing& ring_kernel(Copies copies);
    compute::LaunchShape shape_of(Copies copies) const;
    int tiles() const;
    /// Compares the pictures, counts the wrong pixels and draws the view.
    void show(const PixelTarget& target, View view);
    void render_if_changed();
    void judge(Reading& wrong) const;

    Parameters chosen_;
    Draw draw_;
    Filter synchronous_, reference_;
    std::map<Copies, FilterInRing> in_ring_;
    Compare compare_;
    SharedMemoryCleaner cleaner_;

    std::optional<State> state_;
    compute::Buffer<Rgba> scratch_;  ///< the target if a report comes before a picture
    std::optional<std::uint64_t> rendered_frame_;
    double ticks_ = 0;
};

}  // namespace warpscope::experiments
