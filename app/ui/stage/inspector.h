#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <future>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "experiments/copies/specimen.h"

namespace warpscope::ui {

/// Checks the launch on show in the background, on a copy of the experiment: races, barriers,
/// counters, and when asked what each barrier policy does. The copy is made on the calling thread,
/// where the experiment lives; what takes time runs on another one, one job at a time. A change
/// stops a job that nobody asked for, and other kernels stop any; of several changes only the
/// newest is looked at. Throws nothing: an error is a sentence on show.
class Inspector {
  public:
    using Clock = std::chrono::steady_clock;
    template <class Result>
    using Job = std::function<Result()>;
    using Policies = std::vector<experiments::PolicyOutcome>;

    /// Copies made without being asked, on the thread that draws, take no more than this: about
    /// 0.2 s for the largest, and 400 000 bodies have room.
    static constexpr std::size_t automatic_bytes = std::size_t(320) << 20;

    /// Makes copies, and what another thread then does with them, until it is asked to stop.
    struct Work {
        /// Throws compute::OutOfMemory where the copy takes more than `memory_bytes`.
        std::function<Job<experiments::Inspection>(const experiments::Entry&,
                                                   experiments::Experiment&,
                                                   std::size_t memory_bytes, std::stop_token)>
            inspect;
        std::function<Job<Policies>(const experiments::Entry&, experiments::Experiment&,
                                    std::stop_token)>
            policies;
    };
    static Work usual_work();

    /// A job begins once nothing has changed for `settle`.
    explicit Inspector(Work work = usual_work(),
                       Clock::duration settle = std::chrono::milliseconds(250));
    ~Inspector();
    Inspector(const Inspector&) = delete;
    Inspector& operator=(const Inspector&) = delete;

    /// Once a frame: takes over what has ended and begins what is due. A change of parameters or
    /// run settings and a reset are looked at by themselves where `automatic`.
    void follow(const experiments::Entry& entry, experiments::Experiment& live, bool automatic);
    /// Looks at this state, whether automatic or not; not again where that was done.
    void inspect() { asked_ = begun_ != state_ || too_large_; }
    void try_policies() { policies_asked_ = true; }
    /// Until everything that is wanted of this state is known.
    void wait(const experiments::Entry& entry, experiments::Experiment& live, bool automatic);

    /// Counts the changes: another number, another state.
    std::uint64_t state() const { return state_; }
    /// Something runs or is about to: draw again soon.
    bool busy() const;
    /// The newest findings are of another state than the one on show, and others are on their way.
    bool checking() const;
    bool trying_policies() const { return policies_asked_ || policies_job_.valid(); }

    /// The newest results; those of the state before stay until then. Null: none yet.
    const experiments::Inspection* inspection() const {
        return inspection_ ? &*inspection_ : nullptr;
    }
    /// Why the launch could not be looked at; empty else.
    const std::string& error() const { return error_; }
    /// Whether inspection() is of the state that follow() saw last.
    bool current() const { return shown_ == state_; }
    /// Whether that was not looked at, as nobody asked and its copy is too large; error() says so.
    bool too_large() const { return too_large_; }
    /// Counters of each kernel of this experiment that was looked at, in the order of their first
    /// time; the newest of each.
    const std::vector<emulator::KernelCounters>& counters() const { return counters_; }
    const Policies* policies() const { return policies_ ? &*policies_ : nullptr; }
    const std::string& policies_error() const { return policies_error_; }
    bool policies_current() const { return policies_shown_ == state_; }

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
    std::string experiment_;
    std::vector<std::string> parameters_;
    compute::RunSettings settings_;
    compute::KernelEdits edits_;
    std::uint64_t first_state_ = 0;  // of this experiment; results of those before are let go
    std::uint64_t frame_ = 0;
    // States are numbered: the one on show, that of the newest job, those of the results.
    std::uint64_t state_ = 0, begun_ = 0, shown_ = 0;
    std::uint64_t policies_begun_ = 0, policies_shown_ = 0;
    bool automatic_ = false, asked_ = false, policies_asked_ = false;
    bool limited_ = false, too_large_ = false;  // the newest job, and its outcome
    Clock::time_point due_{};
    std::stop_source stop_;  // of the job that runs
    Future<experiments::Inspection> inspection_job_;
    Future<Policies> policies_job_;
    std::optional<experiments::Inspection> inspection_;
    std::string error_;
    std::vector<emulator::KernelCounters> counters_;
    std::optional<Policies> policies_;
    std::string policies_error_;
};

}  // namespace warpscope::ui
