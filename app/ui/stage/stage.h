#pragma once

#include <chrono>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "compute/device/device.h"
#include "compute/helper/helpers.h"
#include "experiments/framework/experiment.h"
#include "gl/pixel_buffer.h"
#include "ui/stage/kernel_texts.h"
#include "ui/stage/kernel_trials.h"
#include "ui/stage/scene.h"

namespace warpscope::ui {

/// Parameters as texts, by the experiment's id.
using ParameterTexts = std::map<std::string, std::vector<experiments::Assignment>>;

enum class Tone { info, finding, error };

/// The line at the window's foot.
struct Message {
    std::string text;
    Tone tone = Tone::info;
    std::chrono::steady_clock::time_point at;
};

/// What is on show: an experiment on a device of its own, the pixels of its current frame, its
/// report and the message line, and the kernels' texts, which are tried and run as they are typed.
/// The window and the headless screenshot draw the same Stage.
class Stage {
  public:
    struct Start {
        std::string device_wish = "auto";
        compute::RunSettings run;
        std::string experiment;                            ///< its id
        std::vector<experiments::Assignment> assignments;  ///< of that experiment, they win
        ParameterTexts remembered;  ///< from last time; one that is illegal now is left out
        /// Where edited kernels are compiled and run; null: none are. It outlives the stage.
        compute::Helpers* helpers = nullptr;
        KernelTrials::Try try_kernels;  ///< in place of the helpers's
    };

    /// Makes device and experiment. Throws what they throw.
    explicit Stage(const Start& start);
    /// The same with that experiment.
    Stage(const Start& start, const experiments::Entry& entry);
    /// Shows what another made and rendered; `pixels` may be null (no picture). They outlive it.
    Stage(experiments::Experiment& experiment, const experiments::Entry& entry,
          const gl::PixelBuffer* pixels);

    experiments::Experiment& experiment() const { return scene_->experiment(); }
    const experiments::Entry& entry() const { return *scene_->entry; }
    compute::Device& device() const { return scene_->device(); }
    const std::string& device_wish() const { return wish_; }
    /// The device was lost (a sticky CUDA error) and the emulator stands in: only another start of
    /// the app gets it back. The wish that was for it; nullopt: none was lost.
    const std::optional<std::string>& lost_wish() const { return lost_wish_; }
    /// Null where the experiment has no pixels (it has a tree) or none could be made.
    const gl::PixelBuffer* pixels() const { return scene_->pixels; }
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
    /// Every experiment's parameters that differ from their defaults.
    ParameterTexts parameter_texts() const;

    /// The kernels' texts: what is typed there is tried and then runs.
    KernelTexts& texts() { return texts_; }
    /// Why no kernel can be edited here, a sentence; empty: all can.
    const std::string& read_only() const;
    /// What the edited kernels have printed newest, whole lines; empty: nothing yet.
    const std::string& printed() const { return printed_; }
    /// Texts are being tried or soon will be: frames have to go on.
    bool trying() const { return due_.has_value() || (trials_ && trials_->busy()); }
    /// Some kernel is about to be edited: starts what that needs.
    void warm();

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

    /// A frame of the window: takes over kernels that have been tried, steps unless paused, renders
    /// what changed for a view of this many framebuffer pixels, and reads the report now and then.
    void advance(experiments::Size view);

  private:
    using Clock = std::chrono::steady_clock;

    // stage.cpp
    std::unique_ptr<Scene> make(const experiments::Entry& entry,
                                std::unique_ptr<compute::Device> device);
    std::unique_ptr<compute::Device> make_device(const std::string& wish) const;
    void show(std::unique_ptr<Scene> scene);
    void begin_anew(std::unique_ptr<Scene> scene);
    void set_all(experiments::Experiment& made, std::span<const experiments::Assignment> values);
    void remember_all();
    void render(experiments::Size view);
    void read_report();
    void changed();
    /// Whose doing an error may be: of the kernels that run, or of a device that is yet to be made.
    enum class Blame { kernels, other_device };
    void note(const std::exception& error, Blame blame);
    bool mouse(const std::function<bool()>& move);
    /// Runs `change`; false and a message where it throws.
    bool attempt(const std::string& consequence, const std::function<void()>& change,
                 Blame blame = Blame::kernels);

    // stage_kernels.cpp: trying the texts, and what becomes of kernels that fail
    bool runs_edits() const { return scene_->own() && !device().edits().empty(); }
    void follow_texts();
    void try_texts();
    void start_trial(compute::Sources sources);
    compute::Sources wanted_sources();
    experiments::Snapshot standing();
    void take_trial();
    bool adopt(KernelTrials::Ended& ended);
    void refuse(const KernelTrials::Ended& ended, const std::string& error);
    void settle();
    void face_failure();
    void drop_edits(const std::string& words);
    void search_reason();
    void replace_lost_device(const std::string& words);
    void keep_standing();
    void read_prints();

    compute::Helpers* helpers_ = nullptr;
    KernelTrials::Try try_kernels_;
    std::map<std::string, std::unique_ptr<Scene>> scenes_;  // by experiment
    Scene* scene_ = nullptr;                                // the one on show
    compute::RunSettings run_;
    std::string wish_ = "auto";
    std::optional<std::string> lost_wish_;
    ParameterTexts remembered_;
    experiments::Report report_;
    std::optional<experiments::Comparison> comparison_;
    Message message_;
    experiments::Size view_;
    std::uint64_t picture_version_ = 1;
    std::uint64_t changes_ = 0;  // of the experiment's state: frames, parameters, resets
    bool paused_ = false;
    bool step_wanted_ = false;
    bool picture_stale_ = true;
    bool report_stale_ = true;
    bool tree_failed_ = false;
    Clock::time_point next_report_{};
    Clock::time_point rests_until_{};  // the experiment, while kernels are tried

    KernelTexts texts_;
    std::uint64_t seen_texts_ = 0;
    std::optional<Clock::time_point> due_;  // when the texts are to be tried
    std::map<std::string, std::set<std::string>, std::less<>>
        broken_;        // texts that failed, by file
    std::string said_;  // of kernels, on the message line
    std::string printed_;
    std::string failure_;  // what kernels or device failed with, not yet faced
    std::uint64_t trial_changes_ = 0;
    std::optional<experiments::TrialRequest> search_;  // where the emulator may find a reason
    bool searching_ = false;                           // the trial is that one
    std::optional<KernelTrials> trials_;
};

}  // namespace warpscope::ui
