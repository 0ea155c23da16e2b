#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <future>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "compute/device/device.h"
#include "experiments/framework/metadata.h"
#include "experiments/framework/parameter.h"
#include "launches/files/launch_file.h"
#include "ui/documents/kernel_documents.h"
#include "ui/stage/engine.h"
#include "ui/stage/engine_thread.h"
#include "ui/stage/live_experiment.h"
#include "ui/stage/shown.h"

namespace warpscope::ui {

/// A change of parameters, of the run settings, or of both, that a person made.
struct Change {
    std::vector<experiments::Assignment> after, before;  ///< of the same parameters
    compute::RunSettings run_after, run_before;
};

/// The changes that a person made to one experiment, for undo and redo.
class ChangeHistory {
  public:
    /// The changes that are kept.
    static constexpr std::size_t most = 200;

    /// The newest change. It joins the one before it where both change only the same parameters,
    /// with no end_drag() between them.
    void add(Change change);
    /// The mouse is up: what was dragged until now is one change.
    void end_drag() { dragging_ = false; }
    /// The change to take back or to make again; null: there is none. It is valid until the next
    /// call.
    const Change* undo() { return done_ == 0 ? nullptr : &changes_[--done_]; }
    const Change* redo() { return done_ == changes_.size() ? nullptr : &changes_[done_++]; }
    /// What the calls of undo() or redo() from now on would return, the first one first.
    std::vector<const Change*> ahead(bool forward) const;

  private:
    std::deque<Change> changes_;
    std::size_t done_ = 0;  ///< of changes_; the rest were taken back
    bool dragging_ = false;
};

/// A change of parameters that waits for a person's word, since frames would take this long.
struct CostlyChange {
    std::vector<experiments::NewValue> values;
    compute::RunSettings run;
    double seconds = 0;  ///< of a frame, estimated
};

/// The drawing thread's side of an Engine: takes the commands of a person and has the newest
/// results that the panels draw. In the window the engine runs on a thread of its own, and no
/// member function waits for it. A screenshot without a window, and tests, run it here: there each
/// command is carried out at once.
///
/// A command changes the values that a person sees (parameters, run settings, pause) at once, and
/// the engine's values take their place when it has carried the command out.
class Stage {
  public:
    using Start = Engine::Start;

    /// With the engine on the calling thread. Throws what Engine throws.
    explicit Stage(const Start& start);
    /// Shows the experiment of a finished run, paused. Nothing can be edited in it.
    explicit Stage(std::unique_ptr<LiveExperiment> live);
    /// With the engine on a thread of its own.
    Stage(const Start& start, EngineThread::Hooks hooks);

    /// The newest results.
    const Shown& shown() const { return *shown_; }
    const experiments::Entry& entry() const { return *shown_->entry; }
    /// An experiment of the registry as it was on show last: with the newest launch file.
    experiments::SharedEntry newest(const experiments::Entry& known) const {
        return known.compile ? shown_->launch : experiments::unowned(known);
    }
    const compute::DeviceInfo& device() const { return shown_->device; }
    const compute::KernelTimings& timings() const { return shown_->timings; }
    std::uint64_t frame() const { return shown_->frame; }
    /// Null where the experiment draws no pixels (it has a tree) or none could be drawn.
    const gl::Texture* pixels() const { return shown_->picture.texture.get(); }
    /// The side of the square thread blocks that drew the picture; 0: they are not square.
    int tile_side() const { return shown_->picture.tile_side; }
    const experiments::Tree* tree() const { return shown_->readings.tree.get(); }
    const experiments::Report& report() const { return shown_->readings.report; }
    const std::optional<experiments::Comparison>& comparison() const { return shown_->comparison; }
    const Checks& checks() const { return shown_->checks; }
    /// The settings on show are those of the results on show; false until new results are there.
    bool shows_results_of_settings() const;
    /// Where the source on screen does not compile, about the last one that did, and says so.
    RaceSummary race_summary() const;
    bool trying() const { return shown_->trying; }
    const std::string& read_only() const { return shown_->read_only; }
    bool compiler_missing() const { return shown_->compiler_missing; }
    const std::string& device_wish() const { return shown_->device_wish; }
    /// What a picture of the current frame says about itself.
    experiments::Described described() const;

    // What a person has chosen, whether or not the engine has carried it out.
    const experiments::ParameterSet& parameters() const { return *parameters_; }
    /// A parameter of parameters() that a request of a panel refers to. The request may be carried
    /// out after the parameters of another experiment have taken their place.
    template <class P>
    std::shared_ptr<const P> held(const P& parameter) const {
        return {parameters_, &parameter};
    }
    const compute::RunSettings& run() const { return run_; }
    bool paused() const { return paused_; }
    /// The parameters of every experiment that differ from their defaults.
    experiments::Assignments changed_parameters() const;
    const Message& message() const { return message_; }
    /// The kernel sources as a person edits them. A change is tried, and then runs.
    KernelDocuments& documents() { return documents_; }
    const KernelDocuments& documents() const { return documents_; }

    // Commands. None throws: an error becomes the message, and the last good state goes on.
    void select(experiments::SharedEntry entry);
    /// Shows a launch file with this text of its source, which becomes the document's built-in text
    /// unless the document has the file's text already. The sources of the gallery are built in.
    /// Its first frame has these values of its parameters.
    void open_launch(const launches::LaunchFile& file, std::string_view source,
                     std::vector<experiments::Assignment> values = {});
    /// The launch file on show with changes; its source stays as it is edited.
    void change_launch(const launches::LaunchFile& file);
    void set_device(const std::string& wish);
    void set_run(const compute::RunSettings& run);
    /// False: a value is not legal; with the engine here, also: it could not be set. Values with
    /// which a running experiment would take more than `costly_seconds` for a frame, and much
    /// longer than now, wait as costly_change().
    bool assign(std::span<const experiments::Assignment> assignments);
    /// Sets one parameter. Does nothing, and returns false, where it is not of parameters() any
    /// more.
    bool assign(const experiments::Parameter& parameter, std::string_view text);
    /// Shows an experiment with these values. False: a value is not legal.
    bool open(const experiments::SharedEntry& entry,
              std::span<const experiments::Assignment> values, const compute::RunSettings& run);
    const std::optional<CostlyChange>& costly_change() const { return costly_; }
    /// The time of a frame with the values that a person has chosen; 0: not known.
    double expected_seconds() const;
    enum class Answer { apply, apply_paused, go_back };
    /// Ends the wait of costly_change().
    void answer(Answer answer);
    /// Takes back the newest change of the parameters of the experiment on show, or of the run
    /// settings, that a person made here; or makes it again.
    void undo() { go(false); }
    void redo() { go(true); }
    /// What redo() (`forward`) or undo() would do: "Size: 256 → 512"; empty: nothing.
    std::string change_ahead(bool forward) const;
    /// Ends a drag: the next change is a step of its own for undo().
    void end_drag() { histories_[entry().id].end_drag(); }
    /// Whether the source that runs has none of the barriers that a toggle switches.
    bool barrier_taken_out() const;
    void pause(bool paused);
    void step_once();
    void reset() { send(&Engine::reset); }
    void compare();
    /// A comparison was asked for, and its result is not on show yet.
    bool comparing() const { return shown_->commands < comparing_; }
    /// Mouse on the picture; false: the experiment has no use for it.
    bool drag(double dx, double dy);
    bool scroll(double notches);
    bool point(const experiments::Pointer& pointer);
    void say(std::string text, Tone tone = Tone::info);
    void search_compiler() { send(&Engine::search_compiler); }
    void check_automatically(bool on);
    void check_now() { send(&Engine::check_now); }
    void try_policies() { send(&Engine::try_policies); }
    // Nothing happens while the engine still measures, or where the result is known.
    void measure_barriers();
    void measure_ceilings();
    /// The launch on show, for a microscope. It refers to this stage.
    LiveLaunch launch();

    /// Once a frame: hands the edited texts to the engine, asks it for a frame for a view of this
    /// many framebuffer pixels, and takes its newest results.
    void advance(experiments::Size view);
    /// The engine has results that advance() has not taken yet.
    bool has_results() const { return thread_ && thread_->has_result(); }
    /// What the engine is busy with; nullopt: it waits, or it is on this thread.
    std::optional<Work> work() const { return thread_ ? thread_->work_now() : std::nullopt; }
    /// The results on show are those of every command.
    bool settled() const { return shown_->commands == sent_; }
    /// Ends what the engine is busy with. The last good state and its picture stay, paused.
    void cancel();

    /// Only with the engine on the calling thread.
    Engine& engine() { return *engine_; }
    /// Only with the engine on the calling thread: waits until all requested checks have ended.
    void wait_for_checks();
    /// Only with the engine on the calling thread: waits until the edits that are being tried have
    /// been. The next advance() takes the result.
    void wait_for_edits() { engine_->wait_for_edits(); }

    static constexpr double costly_seconds = 2;

  private:
    bool checks_older_source() const;
    bool legal(const std::function<bool()>& take);
    bool set(std::vector<experiments::NewValue> values, const compute::RunSettings& run,
             bool asks = true);
    bool carry_out(std::vector<experiments::NewValue> values, const compute::RunSettings& run);
    std::string words_of_change(const Change& change, bool forward) const;
    void go(bool forward);
    bool mouse(bool used, std::function<void(experiments::Experiment&)> move);
    void send(EngineThread::Command command);
    std::future<LaunchCopy> copy_launch(std::function<LaunchCopy(Engine&)> copy);
    void send_texts();
    void take(std::shared_ptr<const Shown> shown);
    void adopt_values();
    void follow_engine();

    std::unique_ptr<Engine> engine_;        ///< null: on `thread_`
    std::unique_ptr<EngineThread> thread_;  ///< null: the engine is here
    std::shared_ptr<const Shown> shown_;
    /// Results that panels of the current frame may still refer to.
    std::vector<std::shared_ptr<const Shown>> retired_;
    std::shared_ptr<experiments::ParameterSet> parameters_;
    experiments::SharedEntry parameters_of_;
    compute::RunSettings run_;
    std::optional<CostlyChange> costly_;
    bool paused_ = false;
    std::map<std::string, ChangeHistory> histories_;  ///< by experiment
    Message message_;
    std::uint64_t messages_ = 0;  ///< of the engine that were taken
    KernelDocuments documents_;
    std::map<std::string, SharedText> sent_texts_;
    std::map<std::string, std::shared_ptr<const EditOutcome>> taken_outcomes_;
    std::uint64_t sent_version_ = 0;  ///< KernelDocuments::version() that was sent
    std::uint64_t sent_ = 0;          ///< commands
    std::uint64_t measuring_ = 0;     ///< the number of the newest command that measures
    std::uint64_t comparing_ = 0;     ///< the number of the newest command that compares
    bool checks_automatically_ = true;
    /// The edit that was searched for barriers last, and whether it has none.
    mutable std::shared_ptr<const compute::KernelEdit> searched_;
    mutable bool without_barrier_ = false;
};

}  // namespace warpscope::ui
