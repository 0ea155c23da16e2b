#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "emulator/program/launch_progress.h"
#include "emulator/stepper/stepper.h"

namespace warpscope::ui {

/// One block of a launch in a Stepper, which works on a thread of its own. A run can take seconds
/// (the blocks before this one, a loop without a barrier), and the drawing thread must not wait
/// that long. While it works nobody may use the stepper. No function throws.
class BlockRun {
  public:
    /// The block is run this many steps ahead, so that its waits, findings and length are known.
    static constexpr std::uint64_t horizon = 400'000;

    enum class Where {
        here,      ///< on the calling thread: the work is over when a call returns
        elsewhere  ///< on a thread of its own, for which the calling thread waits at most 20 ms
    };
    /// Moves the stepper. Returns a notice for the person who asked for it; empty: none.
    using Change = std::function<files::Sentence(emulator::Stepper&)>;

    BlockRun() = default;
    BlockRun(const BlockRun&) = delete;
    BlockRun& operator=(const BlockRun&) = delete;
    ~BlockRun() { close(); }

    /// Opens a block after so many steps, or at its end. The machine must live until close().
    void open(emulator::Machine& machine, emulator::FrozenLaunch launch, std::uint32_t block,
              std::uint64_t step, Where where);
    /// Moves the stepper. Call it only while ready().
    void change(Change change);
    /// Ends the work and forgets the block.
    void close();
    /// Ends the work early. A change keeps what it has done so far; no block is opened.
    void cancel() { stop_.request_stop(); }
    /// Takes the results of work that has ended. Returns whether there was any.
    bool finish();

    bool works() const { return work_.valid(); }
    std::chrono::steady_clock::time_point works_since() const { return since_; }
    /// How many of the earlier blocks, which run before the block is opened, have run.
    emulator::LaunchProgress::Reading progress() const { return progress_->now(); }

    bool ready() const { return now_.stepper != nullptr; }
    /// Call it only while ready().
    emulator::Stepper& stepper() { return *now_.stepper; }
    const emulator::Stepper& stepper() const { return *now_.stepper; }
    /// True if the known steps are the whole run of the block; or it is longer than `horizon`.
    bool complete() const { return now_.complete; }
    /// The findings of all known steps.
    const std::vector<emulator::Finding>& findings() const { return now_.findings; }
    /// Why the block could not be opened; empty: no error.
    const std::string& complaint() const { return now_.complaint; }
    /// What the newest change says, or why it failed.
    const files::Sentence& notice() const { return now_.notice; }

  private:
    struct State {
        std::unique_ptr<emulator::Stepper> stepper;
        bool complete = false;
        std::vector<emulator::Finding> findings;
        std::string complaint;
        files::Sentence notice;
        void look_ahead();
    };
    template <class Work>
    void start(Work work);

    State now_;  ///< empty while it works
    std::future<State> work_;
    std::stop_source stop_;  ///< stops the work
    Where where_ = Where::here;
    std::chrono::steady_clock::time_point since_;
    std::shared_ptr<emulator::LaunchProgress> progress_ =
        std::make_shared<emulator::LaunchProgress>();
};

}  // namespace warpscope::ui
