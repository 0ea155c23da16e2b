#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <thread>

#include "experiments/replicas/try_edits.h"
#include "ui/documents/kernel_documents.h"
#include "ui/stage/live_experiment.h"

namespace warpscope::ui {

/// Tries edits on a thread of its own, one request at a time. A newer request stops an older one,
/// and only the result of the newest is ever handed out. The member functions are for one thread.
class EditThread {
  public:
    using Try = std::function<experiments::EditResult(const experiments::EditRequest&,
                                                      const std::stop_token&)>;
    struct Ended {
        experiments::EditRequest request;
        experiments::EditResult result;
    };

    explicit EditThread(Try try_edits);
    /// Stops the current try and waits for its end.
    ~EditThread();
    EditThread(const EditThread&) = delete;
    EditThread& operator=(const EditThread&) = delete;

    void start(experiments::EditRequest request);
    /// Gives up the current request without waiting for its end.
    void stop();
    /// The current request; null: there is none.
    const experiments::EditRequest* request() const {
        return current_ ? &current_->request : nullptr;
    }
    /// Hands out the current request and its result, once; nullopt: it has not ended.
    std::optional<Ended> take();
    /// Waits until take() hands out a result, where there is a current request.
    void wait();

  private:
    struct Job {
        experiments::EditRequest request;  ///< does not change
        std::stop_source stop;
        experiments::EditResult result;
        bool ended = false;
    };
    void work(const std::stop_token& closing);

    Try try_;
    std::shared_ptr<Job> current_;  ///< of the member functions' thread alone; null: none

    std::mutex mutex_;  ///< of next_ and of the results
    std::condition_variable_any changed_;
    std::shared_ptr<Job> next_;  ///< current_ until the thread begins it

    std::jthread thread_;  ///< destroyed first
};

/// Makes the kernels of the experiment on show follow the texts that a person edits: tries what was
/// typed in the background, lets it take over once it has drawn a frame, and goes back to the
/// kernels before when it fails later.
class EditedKernels {
  public:
    using Clock = std::function<std::chrono::steady_clock::time_point()>;

    enum class State {
        idle,       ///< all kernels run that can
        waiting,    ///< for a pause in typing, or for the next frame
        trying,     ///< edits are tried while the picture goes on
        replacing,  ///< kernels on show have failed; the picture waits for others that are tried
        searching,  ///< the emulator looks for the place where an edit failed on a GPU
    };

    /// What a call has done, for the stage to show.
    struct News {
        bool replaced = false;         ///< other kernels run and have drawn the frame
        bool began_anew = false;       ///< LiveExperiment::begin_as()
        bool other_inspected = false;  ///< LiveExperiment::inspected() is another experiment
        bool nothing_runs = false;     ///< even the kernels that are built in have failed
        std::string error;             ///< to show; empty: none
        std::string outdated;          ///< an error that was shown and no longer holds; empty: none
        std::exception_ptr failure;    ///< the experiment failed to give its state; or null
    };

    /// `try_edits` runs on another thread; empty: nothing can be edited.
    EditedKernels(EditThread::Try try_edits, Clock clock);

    KernelDocuments& documents() { return documents_; }
    const KernelDocuments& documents() const { return documents_; }
    bool can_try() const { return try_edits_ != nullptr; }
    State state() const { return state_; }
    /// Something is being tried on another thread.
    bool in_background() const { return thread_ && thread_->request() != nullptr; }
    /// Waits until that has ended. The next advance() takes its result.
    void wait() {
        if (thread_) thread_->wait();
    }

    /// Once a frame, with the experiment on show: follows changes of the texts, starts what is due
    /// and takes over what has ended. `view` is the size of the picture's area.
    News advance(LiveExperiment& live, experiments::Size view);
    /// The kernels of `live` have failed with this error: others are tried that take their place.
    News replace_failed(LiveExperiment& live, const std::string& error, experiments::Size view);

    /// The experiment may take kernels from other files now.
    void look_again();
    /// Another experiment is on show.
    void change_experiment();
    /// What failed before may work now: another device, other settings, a reset.
    void forget_failures() { failed_.clear(); }
    /// Every experiment was made anew, without edits.
    void start_anew();
    /// The texts become those that run in an experiment in which nothing can be edited.
    void show(LiveExperiment& live);

  private:
    using Time = std::chrono::steady_clock::time_point;

    void follow_documents();
    void wait_until(Time time);
    void look(LiveExperiment& live, experiments::Size view, News& news);
    void start(LiveExperiment& live, compute::Sources sources, experiments::Size view, News& news);
    void search();
    void take_result(LiveExperiment& live, experiments::Size view, News& news);
    bool replace(LiveExperiment& live, EditThread::Ended& ended, experiments::Size view,
                 News& news);
    void refuse(LiveExperiment& live, EditThread::Ended& ended, const std::string& error,
                News& news);
    void settle(LiveExperiment& live, News& news);
    void fail_text(const std::string& file, const std::string& text,
                   std::vector<compiler::Diagnostic> diagnostics, const std::string& error);
    bool has_failed(const std::string& file, const std::string& text) const;
    compute::Sources wanted_sources(const LiveExperiment& live) const;
    void show_error(std::string error, News& news);

    EditThread::Try try_edits_;
    Clock clock_;
    KernelDocuments documents_;
    State state_ = State::idle;
    std::optional<Time> look_at_;     ///< when the texts are compared with what runs
    std::uint64_t seen_version_ = 0;  ///< KernelDocuments::version()
    std::uint64_t tried_changes_ =
        0;  ///< LiveExperiment::changes() at the snapshot that the try starts from
    /// By file: texts that failed with this device and these settings, which are not tried again.
    std::map<std::string, std::set<std::string>, std::less<>> failed_;
    std::optional<experiments::EditRequest> search_;  ///< to run once the picture goes on
    std::string shown_error_;
    std::optional<EditThread> thread_;  ///< made for the first try
};

}  // namespace warpscope::ui
