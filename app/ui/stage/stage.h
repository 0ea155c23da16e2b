#pragma once

#include <chrono>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "compute/device/device.h"
#include "compute/helper/helpers.h"
#include "experiments/framework/experiment.h"
#include "ui/stage/edited_kernels.h"
#include "ui/stage/scene.h"

namespace warpscope::ui {

/// Parameters as texts, by the experiment's id.
using ParameterTexts = experiments::Assignments;

enum class Tone { info, finding, error };

/// The line at the foot of the window.
struct Message {
    std::string text;
    Tone tone = Tone::info;
    std::chrono::steady_clock::time_point at;
};

/// Shows one experiment at a time: takes the commands of a person, has the scene on show compute
/// its frames, and publishes the results that the panels draw. The kernels of the scene follow the
/// texts that are edited. The window and a screenshot without a window draw the same stage.
class Stage {
  public:
    struct Start {
        std::string device_wish = "auto";
        compute::RunSettings run;
        std::string experiment;                            ///< its id
        std::vector<experiments::Assignment> assignments;  ///< for that experiment; they count most
        ParameterTexts remembered;  ///< from the last session; values that are illegal are left out
        /// Compiles and runs edits; null: nothing can be edited. It must outlive the stage.
        compute::Helpers* helpers = nullptr;
        EditThread::Try try_edits;   ///< in place of the helpers, for tests
        EditedKernels::Clock clock;  ///< instead of the steady clock, for tests
    };

    /// Makes a device and the experiment. Throws what they throw.
    explicit Stage(const Start& start);
    Stage(const Start& start, const experiments::Entry& entry);
    /// Shows a scene of a finished run, paused. Nothing can be edited in it.
    explicit Stage(std::unique_ptr<Scene> scene);

    // The experiment that is shown. It changes between frames, by commands and in advance().
    experiments::Experiment& experiment() const { return scene_->experiment(); }
    const experiments::Entry& entry() const { return scene_->entry(); }
    compute::Device& device() const { return scene_->device(); }
    /// Null where the experiment draws no pixels (it has a tree) or none could be drawn.
    const gl::PixelBuffer* pixels() const { return scene_->pixels(); }
    /// The side of the square thread blocks that drew the picture; 0 where they are not square.
    int tile_side() const;
    /// One block's tree, or null: the experiment has none or it cannot be made.
    const experiments::Tree* tree();

    // Results: values that were computed in earlier frames.
    const experiments::Report& report() const { return results_.report; }
    const std::optional<experiments::Comparison>& comparison() const { return results_.comparison; }
    /// Counts the pictures that were rendered, so that a reader of pixels() knows when they change.
    std::uint64_t picture_version() const { return results_.picture_version; }
    /// The lines that edited kernels printed last; empty: none yet.
    const std::string& printed() const { return results_.printed; }
    const Message& message() const { return results_.message; }

    // The state of the stage.
    bool paused() const { return paused_; }
    const std::string& device_wish() const { return wish_; }
    /// The wish for the device that was lost (a sticky CUDA error) and that the emulator stands in
    /// for, until the app starts again; nullopt: none was lost.
    const std::optional<std::string>& lost_wish() const { return lost_wish_; }
    /// The parameters of every experiment that differ from their defaults.
    ParameterTexts parameter_texts() const;
    /// The kernel sources as a person edits them. A change is tried, and then runs.
    KernelDocuments& documents() { return edits_.documents(); }
    /// Why no kernel can be edited, as a sentence; empty: all can.
    const std::string& read_only() const;
    /// Edits are being tried or soon will be, so frames have to go on.
    bool trying() const { return edits_.state() != EditedKernels::State::idle; }

    // Commands. None throws: an error becomes the message, and the last good state goes on.
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
    /// A kernel is about to be edited: starts the helper processes that this needs.
    void warm();

    /// Computes a frame: lets edits that were tried take over, steps unless paused, renders what
    /// has changed for a view of this many framebuffer pixels, and reads the report now and then.
    void advance(experiments::Size view);

  private:
    using Time = std::chrono::steady_clock::time_point;

    struct Results {
        experiments::Report report;
        std::optional<experiments::Comparison> comparison;
        std::uint64_t picture_version = 1;
        std::string printed;
        Message message;
    };

    // Changes of the scene
    std::unique_ptr<Scene> make(const experiments::Entry& entry,
                                std::unique_ptr<compute::Device> device);
    std::unique_ptr<compute::Device> make_device(const std::string& wish) const;
    void show(std::unique_ptr<Scene> scene);
    void show_alone(std::unique_ptr<Scene> scene);
    void set_all(experiments::Experiment& made, std::span<const experiments::Assignment> values);
    void changed();
    bool mouse(const std::function<bool()>& move);

    // One frame
    void take(const EditedKernels::News& news);
    void step();
    void render(experiments::Size view);
    void read_report();
    void read_printed();
    void keep_snapshot();

    // Failures
    /// Which device an error comes from: the one on show, or one that was to replace it.
    enum class From { shown_device, new_device };
    bool attempt(const std::string& consequence, const std::function<void()>& change,
                 From from = From::shown_device);
    void record_failure(const std::exception& error, From from);
    void handle_failure();
    void replace_lost_device(const std::string& error);

    compute::Helpers* helpers_ = nullptr;
    std::function<Time()> clock_;
    EditedKernels edits_;
    std::map<std::string, std::unique_ptr<Scene>> scenes_;  ///< by experiment
    Scene* scene_ = nullptr;                                ///< the one on show
    compute::RunSettings run_;
    std::string wish_ = "auto";
    std::optional<std::string> lost_wish_;
    ParameterTexts remembered_;
    Results results_;
    experiments::Size view_;
    bool warm_ = false;  ///< the helper processes were started
    bool paused_ = false;
    bool step_wanted_ = false;
    bool picture_stale_ = true;
    bool report_stale_ = true;
    bool tree_failed_ = false;
    Time next_report_{};
    Time rests_until_{};   ///< no frame is computed before, while edits are tried
    std::string failure_;  ///< the error of the kernels or the device on show, not handled yet
};

}  // namespace warpscope::ui
