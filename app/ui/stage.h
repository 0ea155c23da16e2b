#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "compute/device.h"
#include "compute/sandbox.h"
#include "experiments/experiment.h"
#include "gl/pixel_buffer.h"
#include "ui/kernel_texts.h"
#include "ui/settings.h"

namespace warpscope::ui {

enum class Tone { info, finding, error };

/// The line at the window's foot.
struct Message {
    std::string text;
    Tone tone = Tone::info;
    std::chrono::steady_clock::time_point at;
};

/// What is on show: a device, an experiment on it, the pixels of its current frame, its report and
/// the message line. The window and the headless screenshot draw the same Stage.
class Stage {
  public:
    struct Start {
        std::string device_wish = "auto";
        compute::RunSettings run;
        std::string experiment;                            ///< its id
        std::vector<experiments::Assignment> assignments;  ///< of that experiment, they win
        ParameterTexts remembered;  ///< from last time; one that is illegal now is left out
        /// Where edited kernels are compiled and run; null: none are. It outlives the stage.
        compute::Sandbox* sandbox = nullptr;
    };

    /// Makes device and experiment. Throws what they throw.
    explicit Stage(const Start& start);
    /// Shows what another made and rendered; `pixels` may be null (no picture). They outlive it.
    Stage(experiments::Experiment& experiment, const experiments::Entry& entry,
          const gl::PixelBuffer* pixels);

    experiments::Experiment& experiment() const { return *experiment_; }
    const experiments::Entry& entry() const { return *entry_; }
    compute::Device& device() const { return experiment_->device(); }
    const std::string& device_wish() const { return wish_; }
    /// Null where the experiment has no pixels (it has a tree) or none could be made.
    const gl::PixelBuffer* pixels() const { return pixels_; }
    /// Counts the pictures rendered: another number, other pixels.
    std::uint64_t picture_version() const { return picture_version_; }
    const experiments::Report& report() const { return report_; }
    /// Side of the square thread blocks that drew the picture; 0 where they aren't square.
    int tile_side() const;
    /// One block's tree, or null: the experiment has none or it can't be made.
    const experiments::Tree* tree();
    const std::optional<experiments::Comparison>& comparison() const { return comparison_; }
    const Message& message() const { return message_; }
    bool paused() const { return paused_; }
    /// The kernels' texts: what is typed there is tried and then runs.
    KernelTexts& texts() { return texts_; }
    /// Why no kernel can be edited here, a sentence; empty: all can.
    const std::string& read_only() const { return read_only_; }
    /// Every experiment's parameters that differ from their defaults.
    ParameterTexts parameter_texts() const;

    // Changes. None throws: an error becomes the message and the last good state goes on.
    void select(const experiments::Entry& entry);
    void set_device(const std::string& wish);
    void set_run(const compute::RunSettings& run);
    bool assign(std::span<const experiments::Assignment> assignments);
    void pause(bool paused) { paused_ = paused; }
    void step_once();
    void reset();
    void compare();
    /// Mouse on the picture; false: the experiment has no use for it.
    bool drag(double dx, double dy);
    bool scroll(double notches);
    bool point(const experiments::Pointer& pointer);
    void say(std::string text, Tone tone = Tone::info);

    /// A frame of the window: steps unless paused, renders what changed for a view of this many
    /// framebuffer pixels, and reads the report now and then.
    void advance(experiments::Size view);

  private:
    using Clock = std::chrono::steady_clock;

    std::unique_ptr<experiments::Experiment> make(const experiments::Entry& entry,
                                                  compute::Device& device);
    void show(const experiments::Entry& entry, std::unique_ptr<experiments::Experiment> made);
    void remember_all();
    void render(experiments::Size view);
    void read_report();
    void changed();
    /// Runs `change`; false and a message where it throws.
    template <class Change>
    bool attempt(const std::string& consequence, Change&& change);

    std::unique_ptr<compute::Device> own_device_;
    std::map<std::string, std::unique_ptr<experiments::Experiment>> made_;
    std::unique_ptr<gl::PixelBuffer> own_pixels_;
    experiments::Experiment* experiment_ = nullptr;
    const experiments::Entry* entry_ = nullptr;
    const gl::PixelBuffer* pixels_ = nullptr;
    std::string wish_ = "auto";
    ParameterTexts remembered_;
    KernelTexts texts_;
    std::string read_only_ = "A picture of a finished run.";
    experiments::Report report_;
    std::optional<experiments::Comparison> comparison_;
    Message message_;
    experiments::Size view_;
    std::uint64_t picture_version_ = 1;
    bool paused_ = false;
    bool step_wanted_ = false;
    bool picture_stale_ = true;
    bool report_stale_ = true;
    bool tree_failed_ = false;
    Clock::time_point next_report_{};
};

}  // namespace warpscope::ui
