#pragma once

#include <optional>
#include <string>
#include <variant>

#include "experiments/framework/experiment.h"
#include "experiments/framework/shared_memory_cleaner.h"
#include "experiments/scratch/gallery.h"
#include "experiments/scratch/scratch_parameters.h"

namespace warpscope::experiments {

/// A kernel of the user's own that draws a picture. docs/own_kernels.md describes its parameters.
/// Without an edit it is one of the kernels of the gallery.
class Scratch : public Experiment {
  public:
    using Parameters = ScratchParameters;
    explicit Scratch(compute::Device& device);

    const Parameters& parameters() const override { return chosen_; }
    void launch_kernel() override;
    Size picture_size(Size) const override { return size(); }
    void render_into(const PixelTarget& target) override;
    Report report() override;
    MouseUse mouse_use() const override { return {.point = true}; }
    void point(const Pointer& pointer) override;

  private:
    using Pixels = compute::DevicePointer<Rgba>;
    using Mouse = GalleryFrame::Mouse;
    using Alone = compute::Kernel<Pixels, int, int, float, Mouse>;
    using GoingOn = compute::Kernel<Pixels, int, int, float, Mouse, Pixels>;
    using Show = compute::Kernel<Pixels, Pixels, unsigned>;

    struct Pictures {
        Pictures(compute::Device& device, Size size);
        compute::Buffer<Rgba> current, before;
    };

    void changed(std::span<Parameter* const> which) override;
    bool leaves_trace(std::span<Parameter* const> which) const override;
    std::any save_state() override;
    void load_state(const std::any& state) override;
    void do_step() override;
    void do_reset() override;

    /// The kernel with five parameters or, if there is none, with six. Throws DeviceError with both
    /// signatures if there is neither.
    std::variant<Alone, GoingOn> find_entry();
    Size size() const { return {int(chosen_.width), int(chosen_.height)}; }
    std::size_t pixels() const { return std::size_t(chosen_.width * chosen_.height); }
    compute::LaunchShape shape() const;
    Mouse mouse() const;
    bool goes_on() const { return std::holds_alternative<GoingOn>(entry_); }
    /// Draws the picture of the current frame unless it is drawn already.
    void draw();
    /// Compares with the reference of the gallery. nullopt if there is none.
    std::optional<Reading> wrong_pixels() const;
    void judge(Reading& wrong) const;

    Parameters chosen_;

    std::variant<Alone, GoingOn> entry_;
    Show show_;
    SharedMemoryCleaner cleaner_;
    std::optional<Pictures> pictures_;
    bool drawn_ = false;  ///< pictures_->current shows the current frame
};

}  // namespace warpscope::experiments
