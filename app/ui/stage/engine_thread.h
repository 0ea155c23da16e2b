#pragma once

#include <chrono>
#include <condition_variable>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>
#include <vector>

#include "ui/stage/engine.h"

namespace warpscope::ui {

/// A frame or commands that an engine is busy with.
struct Work {
    std::chrono::steady_clock::time_point since;
    Activity activity = Activity::other;
    std::uint64_t frame = 0;                  ///< the one that it computes now or next
    compute::LaunchProgress::Reading launch;  ///< the newest launch
};

/// Runs an engine on a thread of its own. Each time that a frame is asked for it carries out the
/// commands of its queue, computes one frame and publishes the results of both, then those of the
/// report. So it is never more than one frame ahead of the window. The member functions are for
/// another thread, and none waits for a computation.
class EngineThread {
  public:
    using Command = std::function<void(Engine&)>;
    /// What the thread calls.
    struct Hooks {
        std::function<void()> enter = [] {};      ///< before all else: makes a context current
        std::function<void()> leave = [] {};      ///< at the end
        std::function<void()> published = [] {};  ///< there is a new result
        /// Now and then on the calling thread, while that waits for the engine to be made.
        std::function<void(const Work&)> waits = [](const Work&) {};
    };

    /// Makes the engine on the thread and waits for that, which takes seconds where a driver
    /// compiles the kernels. Throws what its constructor throws.
    EngineThread(const Engine::Start& start, Hooks hooks);
    /// Cancels what it is busy with.
    ~EngineThread();
    EngineThread(const EngineThread&) = delete;
    EngineThread& operator=(const EngineThread&) = delete;

    /// Carries out the command before the next frame that is asked for. A report that is being
    /// computed is left for it and computed again afterwards.
    void send(Command command);
    /// Asks for a frame for a view of this many framebuffer pixels.
    void ask_for_frame(experiments::Size view);
    /// The newest result, once; null: there is no new one. Throws what has ended the thread.
    std::shared_ptr<const Shown> take();
    bool has_result() const;
    /// What it is busy with; nullopt: it waits.
    std::optional<Work> work_now() const;
    /// Ends what it is busy with, at the next block on the emulator, at the next launch on a GPU.
    void cancel();

  private:
    void work(const Engine::Start& start, const std::stop_token& stop);
    void run(Engine& engine, const std::stop_token& stop);
    void publish(Engine& engine, std::uint64_t carried_out);

    Hooks hooks_;
    mutable std::mutex mutex_;  ///< of all that follows
    std::condition_variable_any changed_;
    std::vector<Command> commands_;
    std::optional<experiments::Size> asked_;  ///< a frame is asked for
    std::shared_ptr<const Shown> result_;
    std::exception_ptr failure_;  ///< has ended the thread
    bool started_ = false;
    std::optional<std::chrono::steady_clock::time_point> busy_since_;
    const Engine* engine_ = nullptr;  ///< while it is busy
    std::stop_source stop_;           ///< of what it is busy with
    const std::shared_ptr<compute::LaunchProgress> progress_ =
        std::make_shared<compute::LaunchProgress>();

    std::jthread thread_;  ///< destroyed first
};

}  // namespace warpscope::ui
