#pragma once

#include <atomic>
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
#include "ui/stage/inspector.h"
#include "ui/stage/live_experiment.h"
#include "ui/stage/shown.h"

namespace warpscope::ui {

/// Computes one experiment at a time: carries out the commands of a person, has the experiment on
/// show compute its frames, and checks its launches. Its kernels follow the texts that are edited.
/// All of it happens on one thread, the one that made the engine, whose OpenGL context must be
/// current. Panels never see an engine: they draw the values that shown() returns. The commands are
/// in engine.cpp; engine_frame.cpp computes a frame and handles what fails in it.
class Engine {
  public:
    struct Start {
        /// Makes the device of a wish for an experiment.
        using Pick = std::function<std::unique_ptr<compute::Device>(const std::string& wish,
                                                                    const experiments::Entry&)>;
        std::string device_wish = "auto";
        compute::RunSettings run;
        experiments::SharedEntry entry;                    ///< null: `experiment` names it
        std::string experiment;                            ///< its id
        std::vector<experiments::Assignment> assignments;  ///< for that experiment; they count most
        /// From the last session; values that are illegal are left out.
        experiments::Assignments remembered;
        /// Compiles and runs edits; null: nothing can be edited. It must outlive the engine.
        compute::Helpers* helpers = nullptr;
        /// What the device reports to while the experiment is made; null: nothing.
        std::shared_ptr<compute::LaunchProgress> progress;
        Pick pick = [](const auto& wish, const auto& entry) {
            return experiments::pick_for(entry, wish);
        };
        /// What can continue after the device of a wish was lost.
        std::function<std::vector<std::string>(const std::string& wish)> wishes_after_loss =
            compute::wishes_after_loss;
        EditThread::Try try_edits;  ///< in place of the helpers, for tests
        /// Why there is no compiler; empty: there is one. In place of the helpers, for tests.
        std::function<std::string()> no_compiler;
        EditedKernels::Clock clock = std::chrono::steady_clock::now;  ///< tests have another
    };

    /// Makes a device and the experiment. Throws what they throw.
    explicit Engine(const Start& start);
    /// Shows the experiment of a finished run, paused. Nothing can be edited in it.
    explicit Engine(std::unique_ptr<LiveExperiment> live);

    experiments::Experiment& experiment() const { return live_->experiment(); }
    compute::Device& device() const { return live_->device(); }

    /// Everything that was computed so far.
    Shown shown();

    /// Takes over the texts of kernel files, by file, as they are edited elsewhere.
    void follow_texts(const std::map<std::string, SharedText>& texts);
    const KernelDocuments& documents() const { return edits_.documents(); }

    // Commands. None throws: an error becomes the message, and the last good state goes on.
    void select(const experiments::SharedEntry& entry);
    /// Shows the experiment of a launch file. Its kernels run once its source, which
    /// follow_texts() brings, is compiled; its first frame has these values, as far as it has the
    /// parameters. Where an experiment of this source is on show, it stays until then.
    void open_launch(const experiments::SharedEntry& entry,
                     std::vector<experiments::Assignment> values = {});
    void set_device(const std::string& wish);
    void set_run(const compute::RunSettings& run);
    /// Shows an experiment with these values of its parameters.
    void open(const experiments::SharedEntry& entry, std::span<const experiments::NewValue> values,
              const compute::RunSettings& run);
    /// Values of the parameters of this entry.
    bool assign(const experiments::Entry& of, std::span<const experiments::NewValue> values);
    void pause(bool paused) { shown_.paused = paused; }
    void step_once();
    void reset();
    void compare();
    /// The mouse on the picture.
    void mouse(const std::function<void(experiments::Experiment&)>& move);
    void say(std::string text, Tone tone = Tone::info);
    /// A compiler was installed: looks for it, and tries the edits again that have failed.
    void search_compiler();
    void check_automatically(bool on) { automatic_checks_ = on; }
    void check_now() { inspector_.inspect(); }
    void try_policies() { inspector_.try_policies(); }
    /// Measures what the barriers of the device do, unless that is known for the launch.
    void measure_barriers();
    void measure_ceilings();
    LaunchCopy copy_launch(const compute::RunSettings& run) const {
        return ui::copy_launch(*live_->inspected_entry(), live_->inspected(), run);
    }
    LaunchCopy copy_checked_launch(const experiments::LaunchState& checked) const {
        return ui::copy_launch(checked, live_->inspected().frame());
    }
    std::shared_ptr<const experiments::LaunchState> launch_state() const {
        return std::make_shared<const experiments::LaunchState>(
            *live_->inspected_entry(), live_->inspected(), live_->inspected().device().settings());
    }
    /// Waits until all requested checks of the launch have ended.
    void wait_for_checks();
    /// Waits until the edits that are being tried have been. The next frame takes the result.
    void wait_for_edits() { edits_.wait(); }

    /// Until the next call, commands and frames end soon after a request of `stop`, and what they
    /// would have changed stays as it was. Their launches report to `progress`.
    void begin_work(std::stop_token stop, std::shared_ptr<compute::LaunchProgress> progress);
    /// What it is busy with. Any thread may ask.
    Activity activity() const { return activity_; }
    /// The number of the frame that it computes now or next. Any thread may ask.
    std::uint64_t next_frame() const { return next_frame_; }
    /// The report on show is older than the frame, and it is time for a newer one.
    bool report_due() const;
    void read_report();
    /// Computes the report that was cancelled, if one was, in the next frame.
    void retry_report() { reader_.retry_report(); }
    /// Computes a frame: lets edits that were tried take over, steps unless paused, renders what
    /// has changed for a view of this many framebuffer pixels, reads the report now and then, and
    /// lets the checks follow. False: shown() would return an equal value.
    bool advance(experiments::Size view);

  private:
    using Time = std::chrono::steady_clock::time_point;

    // The shown experiment
    std::unique_ptr<LiveExperiment> make(const experiments::SharedEntry& entry,
                                         std::unique_ptr<compute::Device> device);
    std::unique_ptr<compute::Device> make_device(const std::string& wish,
                                                 const experiments::Entry& entry) const;
    void use_ranks();
    /// Shows the experiment on a new device, from its start with its parameters.
    void move_to(const std::string& wish);
    void put_on_show(std::unique_ptr<LiveExperiment> live);
    void put_on_show_alone(std::unique_ptr<LiveExperiment> live);
    void remember_launch();
    void set_all(experiments::Experiment& made, std::span<const experiments::Assignment> values);
    void changed();
    void follow_parameters();
    experiments::Assignments changed_parameters() const;
    std::string read_only() const;
    void follow_compiler();
    void clear_message();

    // One frame
    /// A kernel is edited: starts the helper processes that this needs.
    void warm();
    void list_devices();
    void compute_frame(experiments::Size view);
    void measure_cost(Time start);
    void take(const EditedKernels::News& news);
    void step();
    void render(experiments::Size view);
    void read_printed();
    void read_tree();
    void keep_snapshot();

    // Failures and cancelled work
    void limit(compute::Device& device) const;
    void remember_before_change();
    void go_back();
    /// Which device an error comes from: the one on show, or one that was to replace it.
    enum class From { shown_device, new_device };
    bool attempt(const std::string& consequence, const std::function<void()>& change,
                 From from = From::shown_device);
    void record_failure(const std::exception& error, From from);
    void handle_failure();
    void replace_lost_device(const std::string& error);
    bool continue_on(const std::string& wish, const experiments::Snapshot& last,
                     const std::string& error);

    compute::Helpers* helpers_ = nullptr;
    Start::Pick pick_;
    std::function<std::vector<std::string>(const std::string& wish)> wishes_after_loss_;
    std::function<Time()> clock_;
    std::function<std::string()> no_compiler_;  ///< Start::no_compiler; null: nothing is edited
    EditedKernels edits_;
    ExperimentReader reader_;
    std::map<std::string, std::unique_ptr<LiveExperiment>> made_;  ///< by experiment
    LiveExperiment* live_ = nullptr;                               ///< the one on show
    compute::RunSettings run_;
    experiments::Assignments remembered_;
    experiments::SharedEntry launch_;  ///< of the newest launch file; at first one of the gallery
    /// The results so far. shown() adds the current state of the experiment.
    Shown shown_;
    std::uint64_t version_ = 0;  ///< counts the changes of what shown() returns
    Inspector inspector_;
    bool automatic_checks_ = true;
    experiments::Size view_;
    bool warm_ = false;  ///< the helper processes were started
    bool step_wanted_ = false;
    bool picture_stale_ = true;
    Time rests_until_{};  ///< no frame is computed before, while edits are tried
    std::atomic<Activity> activity_ = Activity::other;
    std::atomic<std::uint64_t> next_frame_ = 1;
    std::stop_token stop_;
    std::shared_ptr<compute::LaunchProgress> progress_;
    bool cancelled_ = false;  ///< in this frame
    double work_ = 0;         ///< ParameterSet::work() of the experiment on show
    /// Where the experiment stood before the changes since its newest frame.
    std::optional<experiments::Snapshot> before_change_;
    std::string failure_;  ///< the error of the kernels or the device on show, not handled yet
};

}  // namespace warpscope::ui
