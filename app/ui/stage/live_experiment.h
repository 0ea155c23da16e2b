#pragma once

#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "experiments/replicas/specimen.h"
#include "gl/pixel_buffer.h"

namespace warpscope::ui {

/// The way of a launch file to the picture, after it was opened or its form was changed.
struct LaunchOpening {
    enum class State {
        compiling,  ///< its source is compiled, and then its first frame is computed
        shown,      ///< it runs; also where there is no launch file
        failed,     ///< it does not run, and what ran before goes on
    };
    State state = State::shown;
    /// Replaces LiveExperiment::entry(). Null: nothing does, or it is still being compiled.
    experiments::SharedEntry entry;
    std::vector<experiments::Assignment> values;  ///< of its parameters, for its first frame
    /// Why it, or an edit of its source, does not run. Empty: it does, or it was not tried yet.
    std::string error;
};

/// An experiment that is or was on show, with the device that it has for itself, the pixels of its
/// newest frame, and what it takes to go on with other kernels after its own have failed. All that
/// is computed for the experiment is computed through this class.
class LiveExperiment {
  public:
    using Clock = std::chrono::steady_clock;

    LiveExperiment(experiments::SharedEntry entry, experiments::Running running);

    const experiments::SharedEntry& entry() const { return entry_; }
    const LaunchOpening& opening() const { return opening_; }
    /// A launch file of this source was opened, or was changed.
    void open(experiments::SharedEntry entry, std::vector<experiments::Assignment> values);
    /// The entry that is opened, or entry() with other kernels, runs now.
    void opened() { opening_ = {}; }
    /// The entry that is opened does not run, or an edit of its source does not. `may_follow`: it
    /// may run with another text.
    void fail_opening(std::string error, bool may_follow);
    experiments::Experiment& experiment() const { return *running_.experiment; }
    compute::Device& device() const { return *running_.device; }
    /// Null where the experiment draws no pixels (it has a tree), and before the first render().
    const gl::PixelBuffer* pixels() const { return pixels_.get(); }

    /// Draws the experiment's current frame for a view of this size. Where this throws, the pixels
    /// are those of the last frame that was drawn.
    void render(experiments::Size view);

    /// Counts the changes of the experiment's state: frames, parameters, resets, the mouse.
    std::uint64_t changes() const { return changes_; }
    void count_change() { ++changes_; }

    bool runs_edits() const { return !device().edits().empty(); }
    /// Edits that have run on one device are gone, and before them there were ranks.
    bool wants_ranks() const { return left_ranks_ && !runs_edits() && !failed_; }
    void stay_without_ranks() { left_ranks_ = false; }
    /// The sources of the edits that run.
    compute::Sources sources() const;
    /// Returns the edits of files from which the experiment takes kernels.
    compute::Sources used(const compute::Sources& edited) const;

    /// The kernels that run have failed, so nothing can be computed until replace() succeeds.
    bool failed() const { return failed_; }
    void fail() { failed_ = true; }
    /// This block of their launch is at fault. They become failed_run() when others replace them.
    void fail_in(emulator::Dim3 block) { failed_block_ = block; }
    /// The edits to go back to after a failure: those that ran before the ones that run.
    const compute::Sources& previous_sources() const { return previous_; }

    /// Kernels of the experiment's files that failed, when they were tried or later; null: there
    /// are none, or none in the emulator.
    const experiments::FailedRun* failed_run() const {
        return failed_run_ ? &*failed_run_ : nullptr;
    }
    void keep_failed(std::optional<experiments::FailedRun> run) {
        failed_run_.reset();  // an assignment would end the device before its experiment
        failed_run_ = std::move(run);
    }
    /// What the checks and the microscope look at: those kernels, or else the experiment on show.
    const experiments::SharedEntry& inspected_entry() const {
        return failed_run_ ? failed_run_->entry : entry_;
    }
    experiments::Experiment& inspected() const {
        return failed_run_ ? *failed_run_->running.experiment : experiment();
    }
    /// Kernels have failed, and there are none to go back to: there is no frame to compute.
    bool stands_still() const { return failed_run_ && entry_->compile && !runs_edits(); }

    /// Keeps a snapshot for the case that the kernels fail. Does nothing where the newest one is of
    /// the current state or was taken not long ago, so that snapshots take 1 % of the time at most.
    void keep_snapshot();
    /// The experiment's state; after a failure the newest one that was kept, unless the experiment
    /// was reset since.
    experiments::Snapshot snapshot() const;

    /// Makes the experiment anew as `entry` has it, without kernels, from where inspected() stands.
    /// Only for an experiment whose own kernels were never there.
    void begin_as(experiments::SharedEntry entry);
    /// Puts an experiment with other kernels, which stands where `from` says, in the place of this
    /// one and draws its frame. Where this throws, nothing has changed.
    void replace(experiments::Running other, experiments::SharedEntry entry,
                 experiments::Snapshot from, experiments::Size view);

  private:
    experiments::SharedEntry entry_;
    experiments::Running running_;
    LaunchOpening opening_;
    std::unique_ptr<gl::PixelBuffer> pixels_;  ///< destroyed before the device that draws them
    std::uint64_t changes_ = 0;
    compute::Sources previous_;
    bool left_ranks_ = false;  ///< for edits
    bool failed_ = false;
    std::optional<emulator::Dim3> failed_block_;
    std::optional<experiments::FailedRun> failed_run_;
    std::optional<experiments::Snapshot> kept_;
    std::uint64_t kept_changes_ = 0;  ///< changes() when `kept_` was taken
    Clock::time_point next_snapshot_{};
};

/// A copy of a launch, or the error that prevented it.
struct LaunchCopy {
    std::unique_ptr<experiments::Specimen> specimen;
    std::string error;
    std::uint64_t frame = 0;       ///< of the launch
    std::uint64_t live_frame = 0;  ///< of the experiment when the copy was made
};

/// Copies the launch of an experiment. Throws nothing.
inline LaunchCopy copy_launch(const experiments::Entry& entry, experiments::Experiment& live,
                              const compute::RunSettings& run) {
    const std::uint64_t frame = live.frame();
    try {
        return {std::make_unique<experiments::Specimen>(entry, live, run), {}, frame, frame};
    } catch (const std::exception& error) {
        return {nullptr, error.what(), frame, frame};
    }
}
/// Copies a launch that a check has run, while the experiment stands before `live_frame`.
inline LaunchCopy copy_launch(const experiments::LaunchState& checked, std::uint64_t live_frame) {
    const std::uint64_t frame = checked.snapshot.frame;
    try {
        return {std::make_unique<experiments::Specimen>(checked), {}, frame, live_frame};
    } catch (const std::exception& error) {
        return {nullptr, error.what(), frame, live_frame};
    }
}

/// The launch of an experiment that goes on meanwhile: everything that a copy depends on, and the
/// way to one.
struct LiveLaunch {
    experiments::SharedEntry entry;
    std::vector<std::string> parameters;  ///< ParameterSet::of_launch()
    compute::RunSettings settings;
    compute::KernelEdits edits;
    std::uint64_t generation = 0;  ///< another number: another experiment
    std::uint64_t frame = 0;
    bool settled = true;         ///< no command is on its way that could change the above
    bool on_this_thread = true;  ///< copies are there at once, and long work may hold this thread
    /// Copies the launch with these settings as soon as no frame is being computed.
    std::function<std::future<LaunchCopy>(const compute::RunSettings&)> copy;
    /// Copies a launch that a check has run, as soon as no frame is being computed.
    std::function<std::future<LaunchCopy>(std::shared_ptr<const experiments::LaunchState>)>
        copy_checked;
    /// Returns what a copy is made from, for work on another thread, as soon as no frame is being
    /// computed.
    std::function<std::future<std::shared_ptr<const experiments::LaunchState>>()> state;
};

}  // namespace warpscope::ui
