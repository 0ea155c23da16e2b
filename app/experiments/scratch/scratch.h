#pragma once

#include <optional>
#include <string>
#include <variant>

#include "experiments/framework/experiment.h"
#include "experiments/framework/measure.h"
#include "experiments/scratch/gallery.h"

namespace warpscope::experiments {

/// A kernel of one's own that draws a picture: docs/own_kernels.md has the entry. Until somebody
/// edits it, it is one of the gallery's starting points.
class Scratch : public Experiment {
  public:
    explicit Scratch(compute::Device& device);

    std::string kernel_file() const override { return "gallery/" + start_.text(); }
    void launch_kernel() override;
    Size picture_size(Size) const override { return size(); }
    void render_into(const PixelTarget& target) override;
    Report report() override;
    bool point(const Pointer& pointer) override;

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

    /// The entry with five arguments, else with six. Throws DeviceError that states both where
    /// neither is there.
    std::variant<Alone, GoingOn> find_entry();
    Size size() const { return {int(width_), int(height_)}; }
    std::size_t pixels() const { return std::size_t(width_ * height_); }
    compute::LaunchShape shape() const;
    Mouse mouse() const;
    bool goes_on() const { return std::holds_alternative<GoingOn>(entry_); }
    /// Draws the current frame's picture where that has not been done.
    void draw();
    /// Against the gallery's reference; nothing where there is none.
    std::optional<Reading> wrong_pixels() const;
    void judge(Reading& wrong) const;

    Choice start_;
    Integer width_, height_;
    Real mouse_x_, mouse_y_;
    Toggle mouse_down_;

    std::variant<Alone, GoingOn> entry_;
    Show show_;
    SharedMemoryCleaner cleaner_;
    std::optional<Pictures> pictures_;
    bool drawn_ = false;  ///< pictures_->current is the current frame's
};

}  // namespace warpscope::experiments
