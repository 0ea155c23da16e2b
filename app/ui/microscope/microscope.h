#pragma once

#include <cstdint>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compute/device/device.h"
#include "emulator/stepper/breakpoints.h"
#include "launches/lanes/lane_values.h"
#include "ui/finders/need_finder.h"
#include "ui/finders/wrong_finders.h"
#include "ui/microscope/block_run.h"
#include "ui/stage/live_experiment.h"

namespace warpscope::ui {

/// A block, and a step of it, at which a microscope opens: "12,7" or "12,7@214".
struct MicroscopePlace {
    emulator::Dim3 block{0, 0, 0};
    std::uint64_t step = 0;
    std::string text() const;
};
std::optional<MicroscopePlace> read_place(std::string_view text);

/// Steps through one block of an experiment's launch. Holds a copy of the launch, the run of the
/// block in it, and the picked thread. Draws nothing. No function throws: an error becomes
/// complaint() or notice(). A request that comes while the copy is on its way, or while the block
/// runs, is carried out afterwards.
class Microscope {
  public:
    using Dim3 = emulator::Dim3;
    static constexpr Dim3 origin{0, 0, 0};
    static constexpr std::uint64_t horizon = BlockRun::horizon;

    /// The settings with which the copy runs; at first those of the experiment's device.
    struct Choice {
        compute::Schedule schedule = compute::Schedule::random;
        std::uint64_t seed = 1;
        compute::BarrierPolicy barriers = compute::BarrierPolicy::volta;
        std::shared_ptr<const emulator::ScheduleFile> turns{};  ///< in place of `schedule`; or null
        bool operator==(const Choice&) const = default;
    };

    /// Takes a copy of the live experiment's launch and stands before the block's first
    /// instruction. For a block or thread outside the launch, takes the nearest one inside.
    void open(const LiveLaunch& live, Dim3 block = origin, Dim3 thread = origin);
    /// As open(), but at a step of the block. Copies that replace this one stand there too, until
    /// somebody moves: the launch of a window changes while it starts.
    void open_at(const LiveLaunch& live, const MicroscopePlace& place);
    void close();
    bool is_open() const { return open_; }
    /// Called once a frame: takes a new copy after a change of experiment, parameters, settings or
    /// kernels and, while the experiment is paused, of the frame. Block and thread stay.
    void follow(const LiveLaunch& live, bool paused);
    /// Takes a fresh copy unconditionally.
    void renew(const LiveLaunch& live);
    /// Calls `action` when the copy that is on its way is there and the block does not run; at once
    /// if nothing is on its way.
    void when_ready(std::function<void()> action);
    /// True while a copy is on its way or the block runs.
    bool waits() const { return copying_.valid() || run_.works(); }
    /// The run of the block on another thread.
    const BlockRun& run() const { return run_; }
    /// Ends that run.
    void cancel() { run_.cancel(); }
    /// The live experiment's frame when the copy was taken.
    std::uint64_t frame() const { return frame_; }

    /// Whether there is a block to step; if there is none, complaint() says why.
    bool ready() const { return run_.ready(); }
    const std::string& complaint() const {
        return complaint_.empty() ? run_.complaint() : complaint_;
    }
    /// Why the newest action failed; empty: it succeeded.
    const std::string& notice() const { return notice_; }
    /// Numbers that change with the state on show, and with the copy of the launch.
    std::uint64_t version() const { return version_; }
    std::uint64_t copy() const { return copy_; }

    /// The kernel source, such as "kernels/ripple.cu", that the copy runs; empty for an unknown
    /// file or without a copy.
    std::string_view source(std::string_view file) const {
        return specimen_ ? specimen_->source(file) : std::string_view();
    }

    // The functions from here to acting_warp() may be called only while ready() is true.
    const emulator::Stepper& stepper() const { return run_.stepper(); }
    const emulator::LaunchShape& launch() const { return stepper().launch().launch; }
    std::string kernel_name() const;  ///< as the source names it
    files::Sentence error() const;    ///< Stepper::error(), with names as in the source
    std::string as_named(std::string words) const;  ///< words with those names
    files::Sentence as_named(files::Sentence words) const;
    std::string where(std::uint32_t pc) const;  ///< Kernel::where(), with the paths of the user
    Dim3 block() const { return block_; }
    /// The place at which the command line opens a microscope in this state. nullopt: no command
    /// line can, because warps were stepped by hand or the schedule is not the experiment's.
    std::optional<MicroscopePlace> place() const;
    /// Says that the launch has no block there; empty if it has one. Call it only while ready().
    std::string complaint_about(const MicroscopePlace& place) const;
    void set_block(Dim3 block);
    void set_block(const std::string& typed);  ///< read by emulator::read_index()
    /// Shows the block of this rank in the cluster of the block on show.
    void show_rank(std::uint32_t rank);
    /// Whether the known steps are the whole run of the block; it may be longer than `horizon`.
    bool complete() const { return run_.complete(); }
    std::uint64_t known_steps() const { return stepper().history().size(); }
    /// The findings up to the current step, and the findings of all known steps.
    const std::vector<emulator::Finding>& findings();
    const std::vector<emulator::Finding>& all_findings() const { return run_.findings(); }

    unsigned warp() const { return warp_; }
    unsigned lane() const { return lane_; }
    void pick(unsigned warp, unsigned lane);
    void pick_warp(unsigned warp) { pick(warp, lane_); }
    void pick_thread(Dim3 thread);
    /// The thread index of a lane.
    Dim3 thread(unsigned warp, unsigned lane) const;
    Dim3 thread() const { return thread(warp_, lane_); }
    /// The warp that the next step runs: the picked warp if the person chooses by hand, otherwise
    /// the schedule's choice. At the end of the block, the warp that ran last.
    unsigned acting_warp() const;

    bool by_hand() const { return by_hand_; }
    void set_by_hand(bool by_hand);
    void step();
    /// Executes one instruction, whatever the schedule would choose.
    void step_warp(unsigned warp);
    /// Lands an asynchronous copy now, by its number.
    void land(std::uint32_t copy);
    void step_line();
    void step_barrier();
    void back() { back_by(&emulator::Stepper::back); }
    void back_line() { back_by(&emulator::Stepper::back_line); }
    void back_barrier() { back_by(&emulator::Stepper::back_barrier); }
    void to_end();
    void restart() { seek(0); }
    void seek(std::uint64_t position);
    /// Opens the launch of the check that has this finding, picks the thread that it names, and
    /// goes to before that thread's access: see step_of(). After the next frame of a paused
    /// experiment, and after a change of it, the launch is the live one again.
    void show(const LiveLaunch& live, std::shared_ptr<const experiments::LaunchState> checked,
              const emulator::Finding& finding);
    /// The finding with which show() has opened the block; null: it was opened otherwise.
    const emulator::Finding* shown_finding() const {
        return shown_finding_ ? &*shown_finding_ : nullptr;
    }
    void forget_finding() { shown_finding_.reset(); }
    /// show(), and then searches for the shortest order in which this race spoils a result. Opens
    /// the launch in that order, or says in notice() why it is not known.
    void show_witness(const LiveLaunch& live,
                      std::shared_ptr<const experiments::LaunchState> checked,
                      const emulator::Finding& finding);
    /// Of that order: what comes too early in it, and what goes wrong; empty: it was not searched.
    const files::Sentence& order_sentence() const { return order_sentence_; }
    bool searches() const { return searches_orders() || reasons_.works() || needs_.works(); }
    bool searches_orders() const { return open_ && finder_.works(); }
    /// The search for that order, which can be stopped.
    WitnessFinder& finder() { return finder_; }
    const WitnessFinder& finder() const { return finder_; }
    /// Asks why an element of the result is wrong, as WrongResults::find() reads it. If it is,
    /// opens the launch at the access that got the wrong value: see WrongWord::place().
    void show_reason(const LiveLaunch& live, std::string element);
    /// The element about which show_reason() asks; empty: the answer is there.
    const std::string& asked() const { return asked_; }
    std::string asked_words() const;  ///< "pixel (35, 41)", "y[12]", "first"
    void forget_asked() { asked_.clear(); }
    ReasonFinder& reasons() { return reasons_; }
    /// Why the element is wrong at whose access the block was opened; null: it was opened
    /// otherwise.
    const Reason* reason() const { return reason_.get(); }
    /// What depends on the barriers of a launch, also while no microscope is open.
    NeedFinder& needs() { return needs_; }
    const NeedFinder& needs() const { return needs_; }
    /// The barriers of the kernels on show, with what depends on them.
    std::span<const NeedFinder::Barrier> needed() const;
    /// Goes to the next read or write of a race of this block, or to the one before.
    void go_to_race(bool forward);
    /// While it plays, the block runs so that all its steps take about 8 s.
    bool playing() const { return playing_; }
    void play(bool on);
    void advance(double seconds);

    /// Breakpoints and watchpoints. They stay while other blocks and experiments are opened; but a
    /// new copy of the launch has other global addresses, and disables the watchpoints there.
    emulator::Breaks& breaks() { return breaks_; }
    /// What the lanes of the block have. Call it only while ready().
    const launches::LaneValues& values();
    const emulator::Breaks& breaks() const { return breaks_; }
    /// Sets a breakpoint at a line, or removes those that are at it.
    void toggle_breakpoint(const std::string& file, int line);
    void toggle_breakpoint();  ///< at the line that runs next
    /// Watches the writes of a word of shared memory, or removes the watchpoints of this word.
    void toggle_watch(std::uint64_t word);
    /// Runs to the next stop, or to the block's end or start, and picks the lane that has stopped.
    /// notice() says why it stopped. While the block plays, it stops at these places too.
    void run_to_break();
    void run_back_to_break();

    /// Steps of the block on show that a person has marked.
    const std::set<std::uint64_t>& bookmarks() const { return bookmarks_; }
    void toggle_bookmark();  ///< at the current step
    void next_bookmark();    ///< goes to it; behind the last one, to the first

    const Choice& choice() const { return choice_; }
    /// Takes effect at the next follow().
    void choose(const Choice& choice);

  private:
    /// Everything that a copy depends on.
    struct Source {
        experiments::SharedEntry entry;
        std::vector<std::string> parameters;
        compute::RunSettings settings;
        compute::KernelEdits edits;
        bool operator==(const Source&) const = default;
    };

    static Choice choice_of(const compute::RunSettings& run) {
        return {run.schedule, run.seed, run.barriers, run.turns};
    }
    static Source source_of(const LiveLaunch& live);
    void start(const compute::RunSettings& run, Dim3 block);
    void take(const LiveLaunch& live,
              std::shared_ptr<const experiments::LaunchState> checked = nullptr);
    void move_breakpoints(const compute::KernelEdits& next);
    void receive();
    void receive_witness(const LiveLaunch& live);
    void receive_reason(const LiveLaunch& live);
    void receive_copy();
    void open_block();
    void block_has_run();
    void keep_inside();
    std::optional<std::uint32_t> chosen_warp() const;
    /// Runs `change` on the stepper, and `then` afterwards.
    void act(BlockRun::Change change, std::function<void()> then = {});
    /// Ends the playing and moves the stepper.
    void move(std::function<void(emulator::Stepper&)> change);
    void back_by(void (emulator::Stepper::*back)());
    /// The breaks, whose conditions ask the lanes of the block.
    emulator::Breaks asking_breaks();
    void run_breaks(
        std::function<emulator::Stop(emulator::Stepper&, const emulator::Breaks&, std::uint64_t)>
            run);
    void pick_stopped(const emulator::Stop& stop);

    bool open_ = false;
    Source source_;
    std::uint64_t taken_from_ = 0;  // LiveLaunch::generation of the copy
    bool stale_ = false;            // a new choice waits for follow()
    std::future<LaunchCopy> copying_;
    // Actions that wait until the block can be stepped.
    std::vector<std::function<void()>> actions_;
    std::function<void()> then_;  // called when the block has run
    emulator::Breaks breaks_;
    std::set<std::uint64_t> bookmarks_;
    std::uint64_t frame_ = 0;       // of the copy
    std::uint64_t live_frame_ = 0;  // of the experiment when the copy was made
    std::shared_ptr<const experiments::LaunchState> checked_;  // copied; null: the live launch is
    std::unique_ptr<experiments::Specimen> specimen_;
    std::unique_ptr<launches::LaneValues> values_;  ///< of the stepper; null: nobody has asked
    WitnessFinder finder_;
    ReasonFinder reasons_;
    NeedFinder needs_;
    std::string asked_;  // the element about which show_reason() was asked; empty: none
    std::shared_ptr<const Reason> reason_;
    BlockRun run_;  // runs in the copy's machine
    BlockRun::Where where_ = BlockRun::Where::here;
    Choice choice_;
    std::string complaint_, notice_;
    files::Sentence order_sentence_;
    Dim3 block_ = origin;
    std::uint64_t start_ = 0;  // the step at which the block is opened
    unsigned warp_ = 0, lane_ = 0;
    bool by_hand_ = false, playing_ = false;
    double owed_ = 0;  // steps that are due while it plays; a fraction stays
    std::uint64_t copy_ = 0, version_ = 0, findings_version_ = 0;
    std::vector<emulator::Finding> findings_;
    std::optional<emulator::Finding> shown_finding_;
};

}  // namespace warpscope::ui
