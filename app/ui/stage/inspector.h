#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "experiments/replicas/specimen.h"

namespace warpscope::ui {

/// The newest results of the checks of the launch on show. They may belong to an earlier state of
/// it.
struct Checks {
    using Policies = std::vector<experiments::PolicyOutcome>;

    std::uint64_t state = 0;       ///< counts the changes of the launch
    bool busy = false;             ///< a job runs or will begin
    bool checking = false;         ///< the findings of the current state will follow
    bool trying_policies = false;  ///< the outcomes of the policies will follow
    std::shared_ptr<const experiments::Inspection> inspection;  ///< null: none yet
    bool current = false;  ///< `inspection` is of the current state
    std::string error;     ///< why the launch could not be checked; empty: it could
    /// The current state was not checked automatically, since its copy is too large; `error` says
    /// so.
    bool too_large = false;
    /// The newest counters of each kernel of this experiment that was checked, in the order of the
    /// kernels' first checks.
    std::vector<emulator::KernelCounters> counters;
    std::shared_ptr<const Policies> policies;  ///< null: none yet
    bool policies_current = false;
    std::string policies_error;

    /// The counters of the kernel of `inspection`; nullptr where there are none.
    const emulator::KernelCounters* newest_counters() const;
};

/// Checks the launch on show in the background, on a copy of the experiment: races, barriers,
/// memory and counters, and on request what each barrier policy does. The calling thread, which
/// uses the experiment, takes its state; the checks run on another thread, one job at a time. A
/// change of the experiment stops a job that started automatically, and a change of its kernels
/// stops any job. After several changes only the newest state is checked. Throws nothing: an error
/// is a sentence to show.
class Inspector {
  public:
    using Clock = std::chrono::steady_clock;
    template <class Result>
    using Job = std::function<Result()>;
    using Policies = Checks::Policies;

    /// The most memory of a copy that is made automatically, on the thread that draws. The largest
    /// take about 0.2 s; 400 000 bodies fit.
    static constexpr std::size_t automatic_bytes = std::size_t(320) << 20;

    /// Each function takes what a copy needs, and returns the job that another thread then runs.
    struct Work {
        /// The job throws compute::OutOfMemory where the copy takes more than `memory_bytes`.
        std::function<Job<experiments::Inspection>(const experiments::Entry&,
                                                   experiments::Experiment&,
                                                   std::size_t memory_bytes, std::stop_token)>
            inspect;
        std::function<Job<Policies>(const experiments::Entry&, experiments::Experiment&,
                                    std::stop_token)>
            policies;
    };
    static Work usual_work();

    /// A job begins after a time of `settle` without a change.
    explicit Inspector(Work work = usual_work(),
                       Clock::duration settle = std::chrono::milliseconds(250));
    ~Inspector();
    Inspector(const Inspector&) = delete;
    Inspector& operator=(const Inspector&) = delete;

    /// Once a frame: collects the results of jobs that have ended and begins jobs that are due.
    /// With `automatic`, a change of parameters or run settings and a reset make a check due.
    void follow(const experiments::Entry& entry, experiments::Experiment& live, bool automatic);
    /// Requests a check of the current state, unless it was checked already.
    void inspect();
    void try_policies();
    /// Waits until all requested results of the current state are there.
    void wait(const experiments::Entry& entry, experiments::Experiment& live, bool automatic);

    Checks checks() const;
    /// Checks::state.
    std::uint64_t state() const { return state_; }
    /// A job runs or will begin.
    bool busy() const { return running() || wanted() || policies_asked_; }
    /// Changes whenever checks() does.
    std::uint64_t version() const { return version_; }

  private:
    template <class Result>
    struct Outcome {
        std::optional<Result> result;
        std::string error;
        bool too_large = false;
        bool stopped = false;
    };
    template <class Result>
    using Future = std::future<Outcome<Result>>;
    template <class Result, class Prepare>
    Future<Result> begin(const Prepare& prepare);

    void notice(const experiments::Entry& entry, experiments::Experiment& live);
    void forget();
    void collect();
    void take(Outcome<experiments::Inspection> outcome);
    void start(const experiments::Entry& entry, experiments::Experiment& live);
    bool wanted() const { return asked_ || (automatic_ && begun_ != state_); }
    bool running() const { return inspection_job_.valid() || policies_job_.valid(); }

    Work work_;
    Clock::duration settle_;
    std::string experiment_;  ///< with its launch file
    std::vector<std::string> parameters_;
    compute::RunSettings settings_;
    compute::KernelEdits edits_;
    std::uint64_t first_state_ = 0;  ///< of this experiment; results of earlier ones are dropped
    std::uint64_t frame_ = 0;
    std::uint64_t version_ = 0;
    // Numbers of states: the current one, the one of the newest job, the one of its results.
    std::uint64_t state_ = 0, begun_ = 0, shown_ = 0;
    std::uint64_t policies_begun_ = 0, policies_shown_ = 0;
    bool automatic_ = false, asked_ = false, policies_asked_ = false;
    bool limited_ = false,
         too_large_ = false;  ///< the newest job has a memory limit, and exceeded it
    Clock::time_point due_{};
    std::stop_source stop_;  ///< of the job that runs
    Future<experiments::Inspection> inspection_job_;
    Future<Policies> policies_job_;
    std::shared_ptr<const experiments::Inspection> inspection_;
    std::string error_;
    std::vector<emulator::KernelCounters> counters_;
    std::shared_ptr<const Policies> policies_;
    std::string policies_error_;
};

/// The verdict on the launch on show, as a chip and as a sentence. A race may leave the picture
/// right, and a wrong picture may have no race.
struct RaceSummary {
    enum class State {
        unknown,  ///< not checked, or about to be
        clean,
        warning,  ///< findings, none of them an error
        race,
        wrong,  ///< the checks have found nothing harmful, but a result is wrong
        error,  ///< no race, but threads that miss a barrier, or reads of memory that no thread
                ///< wrote
        failed  ///< the launch could not be checked, or ended with an error
    };
    State state = State::unknown;
    std::string chip;      ///< "Race: 256 hazards a block", "No race found", "Checking…"
    std::string brief;     ///< the chip where there is little room: "Race", "No race"
    std::string sentence;  ///< says how many blocks were checked
    std::size_t findings = 0;
    bool checking = false;  ///< the findings are of an earlier state; new ones will follow
};

/// An error, or a race in which a thread reads: its result may be wrong.
bool spoils_results(const emulator::Finding& finding);

/// `current`: the settings on show are those of the results on show, which are `report`.
RaceSummary summarize(const Checks& checks, bool current, const experiments::Report& report = {});

}  // namespace warpscope::ui
