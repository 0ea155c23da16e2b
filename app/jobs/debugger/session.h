#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <vector>

#include "emulator/stepper/stepper.h"
#include "jobs/debugger/breakpoints.h"
#include "jobs/debugger/target.h"
#include "launches/lanes/lane_values.h"

namespace warpscope::jobs {

/// Why the block stands still.
struct Halt {
    enum class Why { entry, step, breakpoint, word, finding, pause, focus, end };
    Why why = Why::step;
    std::string text{};
    int breakpoint = 0;  ///< its number; 0: none
};

/// How a person moves the block.
struct Motion {
    enum class How {
        line,         ///< a source line of the warp, over the functions that it calls
        into,         ///< likewise, into these
        out,          ///< until the warp has left the function, or has ended
        instruction,  ///< of the warp
        barrier,      ///< all warps to the next barrier
        run,
        back_line,
        back_instruction,
        back_barrier,
        back_run
    };
    How how = How::line;
    std::uint32_t warp = 0;
    // Of a motion that has begun:
    bool begun = false;
    std::vector<std::string> place{};  ///< of the warp: the line of the kernel, then of its calls
    std::uint32_t epoch = 0;
};

/// A lane of a block that a person looks at.
struct Focus {
    std::uint32_t block = 0, warp = 0;
    unsigned lane = 0;
};

/// The stepper of a block of a launch, moved as a person asks for it. Throws UsageError and
/// launches::LaunchError for what cannot be done.
class Session {
  public:
    struct Telling {
        std::function<void(const std::string&)> log;                     ///< lines for the person
        std::function<void(const std::vector<SetBreakpoint>&)> changed;  ///< breakpoints
        std::function<std::string(const std::string& source)> file;  ///< BreakpointContext::file
    };
    Session(compute::Helpers& helpers, Telling telling);

    /// Opens the first launch of a target. `checks`: findings of the whole launch are looked for.
    void open(TargetRequest request, std::optional<emulator::Dim3> block,
              const emulator::CheckChoice& checks, std::function<void(std::string_view)> printed,
              const std::stop_token& stop);
    void close();
    bool is_open() const { return stepper_ != nullptr; }
    int exit_status() { return target_ ? target_->exit_status() : 0; }

    /// Goes on with a motion. nullopt: the stop has interrupted it.
    std::optional<Halt> move(Motion& motion, const std::stop_token& stop);
    /// Behind the end of a block: stands in the block of a finding that was not shown, or opens the
    /// next launch. nullopt: there is none.
    std::optional<Halt> go_on(const std::stop_token& stop);

    const emulator::Stepper& stepper() const { return *stepper_; }
    const OpenedLaunch& launch() const { return launch_; }
    std::string_view source(std::string_view file) const { return launch_.specimen->source(file); }
    const launches::LaneValues& values() const { return *values_; }
    Breakpoints& breakpoints() { return breakpoints_; }
    const Focus& focus() const { return focus_; }
    unsigned lane_of(std::uint32_t warp) const;  ///< that stands for the warp
    /// "waits at the barrier, dot.cu:34"
    std::string state_of(std::uint32_t warp) const;
    std::string state_of(const emulator::SplitView& split) const;
    std::string where(std::uint32_t pc) const;
    std::string kernel_name() const;
    std::string as_named(std::string words) const;

    /// Which kinds of findings stop a run.
    void stop_at(std::set<std::string> kinds) { kinds_ = std::move(kinds); }
    const std::optional<emulator::Finding>& finding() const { return finding_; }

    /// Opens this launch, or the first wanted one behind it.
    void look_at_launch(std::uint64_t number, const std::stop_token& stop);
    void look_at(std::uint32_t warp, unsigned lane);
    void look_at_thread(const emulator::Dim3& thread);
    void look_at_block(const emulator::Dim3& block, const std::stop_token& stop);
    std::string focus_words() const;  ///< "kernel dot, block (0,0,0), thread (32,0,0)"
    emulator::Dim3 thread(std::uint32_t warp, unsigned lane) const;

  private:
    bool open_next(const std::stop_token& stop, std::uint64_t first = 0);
    void open_block(std::uint32_t block, const std::stop_token& stop);
    void check(const std::stop_token& stop);
    std::optional<Halt> step_warp(Motion& motion, const std::stop_token& stop);
    std::optional<Halt> run(const std::function<bool()>& until = {});
    std::optional<Halt> back(const Motion& motion);
    bool has_arrived(const Motion& motion) const;
    std::optional<emulator::Stop> new_finding();
    Halt stand_at(const emulator::Stop& stop);
    Halt stand_before_finding();
    Halt end_of_block();
    void tell_printed();
    std::vector<std::string> place_of(std::uint32_t warp, unsigned lane) const;

    compute::Helpers& helpers_;
    Telling telling_;
    Breakpoints breakpoints_;
    std::unique_ptr<Target> target_;
    std::optional<emulator::Dim3> wanted_block_;
    emulator::CheckChoice checks_;
    OpenedLaunch launch_;
    std::unique_ptr<emulator::Stepper> stepper_;
    std::unique_ptr<launches::LaneValues> values_;
    Focus focus_;
    std::set<std::string> kinds_;
    std::set<std::string> told_;  ///< findings that have stopped a run
    std::size_t findings_seen_ = 0;
    std::optional<emulator::Finding> finding_;  ///< at which the block stands
    std::vector<emulator::Finding> elsewhere_;  ///< of the whole launch
    std::size_t printed_ = 0;
};

}  // namespace warpscope::jobs
