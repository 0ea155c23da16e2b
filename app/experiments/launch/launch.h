#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "experiments/framework/experiment.h"
#include "experiments/launch/launch_buffers.h"
#include "experiments/launch/launch_parameters.h"
#include "experiments/launch/launch_plan.h"
#include "launches/arrays/array_comparison.h"

namespace warpscope::experiments {

/// A buffer after a frame, in host memory.
struct BufferContents {
    std::string name;
    launches::Array numbers;
    std::vector<bool> differing;  ///< of each element; empty: nothing is expected
    launches::Array expected;     ///< empty: nothing is expected
};

/// The kernels of a launch file. Each frame fills the buffers, makes the launches in order, and
/// compares the buffers with what the file expects. On a device that has no edit with the kernels,
/// it has no buffers and makes no launches.
class Launch : public Experiment {
  public:
    /// Throws DeviceError if a kernel can't be loaded, and LaunchError for values that can't be
    /// used, such as a grid of 0 blocks.
    Launch(compute::Device& device, std::shared_ptr<const LaunchPlan> plan);

    const LaunchParameters& parameters() const override { return chosen_; }
    std::shared_ptr<const LaunchPlan> plan() const override { return plan_; }
    std::shared_ptr<const BufferContents> contents(std::size_t most_bytes) override;
    void launch_kernel() override;
    /// The buffers of the expectations, if the launch that is chosen is the last one.
    std::vector<KnownResult> known_results() override;
    std::vector<KnownResult> results() override;  ///< all buffers
    Size picture_size(Size view) const override;
    void render_into(const PixelTarget& target) override;
    Report report() override;
    std::vector<OutputFile> output_files() override;
    /// The scalars mouse_x, mouse_y and mouse_z of the file follow the mouse.
    MouseUse mouse_use() const override { return {.point = chosen_.follows_mouse()}; }
    void point(const Pointer& pointer) override;

    /// The buffer after the current frame. Throws LaunchError if there is none of this name.
    launches::Array array(std::string_view buffer);

  private:
    using Pixels = compute::DevicePointer<Rgba>;
    /// A launch whose arguments have values, except addresses.
    struct Ready {
        const BoundLaunch* bound;
        const compute::LoadedKernel* kernel;
    };
    void changed(std::span<Parameter* const> which) override;
    bool leaves_trace(std::span<Parameter* const> which) const override;
    std::any save_state() override;
    void load_state(const std::any& state) override;
    void do_step() override;
    void do_reset() override;

    /// Whether a change of these scalars changes the shape or the fill of a buffer.
    bool change_buffers(std::span<Parameter* const> scalars) const;
    /// Makes the first `count` launches.
    void run(std::size_t count);
    void run_once(const Ready& launch, const launches::Names& names, const std::string& field);
    std::vector<std::byte> argument_bytes(const BoundArgument& argument,
                                          const launches::Names& names, const std::string& field);
    /// Computes the current frame unless it is computed already.
    void compute();
    /// How the buffer that is chosen is shown.
    launches::BufferView view() const;
    /// Whether that buffer holds the pixels of the target: the device can copy them.
    bool is_picture(const PixelTarget& target) const;
    Reading judge(std::size_t expectation);
    void add_numbers(Report& report, std::size_t buffer);
    void add_not_finite(Report& report, std::size_t buffer) const;
    /// What the buffer of an expectation must hold. Numbers that do not depend on the frame are
    /// kept until parameters change.
    launches::Array wanted(std::size_t expectation, const launches::Array& found);
    /// The first expectation of a buffer; nullopt: there is none.
    std::optional<std::size_t> expectation_of(std::size_t buffer) const;
    /// `found` against what an expectation demands.
    launches::OutOfTolerance compare(std::size_t expectation, const launches::Array& found,
                                     const launches::Array& wanted) const;

    LaunchParameters chosen_;
    std::shared_ptr<const LaunchPlan> plan_;
    std::vector<Ready> launches_;
    SharedMemoryCleaner cleaner_;
    compute::Kernel<Pixels, Pixels, unsigned> show_;
    LaunchBuffers buffers_;                          ///< empty: there are no kernels, or no buffers
    bool computed_ = false;                          ///< the buffers hold the current frame
    bool stepped_ = false;                           ///< which a step has computed
    std::map<std::size_t, launches::Array> wanted_;  ///< by expectation
};

/// The experiment "launch" for a plan. Entry::compile() compiles a text of its source, and notes
/// which host code it leaves out.
SharedEntry launch_entry(std::shared_ptr<const LaunchPlan> plan);

}  // namespace warpscope::experiments
