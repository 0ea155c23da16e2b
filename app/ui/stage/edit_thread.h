#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>

#include "experiments/replicas/try_edits.h"

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

}  // namespace warpscope::ui
