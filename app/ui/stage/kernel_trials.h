#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>

#include "experiments/copies/trial.h"

namespace warpscope::ui {

/// Tries kernels in the background, one set at a time: a newer request stops the older one, and
/// only the newest result is ever given. Used from one thread.
class KernelTrials {
  public:
    using Try = std::function<experiments::TrialResult(const experiments::TrialRequest&,
                                                       const std::stop_token&)>;
    struct Ended {
        experiments::TrialRequest request;
        experiments::TrialResult result;
    };

    explicit KernelTrials(Try attempt);
    /// Stops what runs and waits for it.
    ~KernelTrials();
    KernelTrials(const KernelTrials&) = delete;
    KernelTrials& operator=(const KernelTrials&) = delete;

    void start(experiments::TrialRequest request);
    /// What runs or waits is no longer wanted. Does not wait.
    void stop();
    /// A result is on its way, or here.
    bool busy() const { return wanted_ != 0; }
    /// The sources of that one; null where there is none.
    const compute::Sources* sources() const { return busy() ? &sources_ : nullptr; }
    /// Of the newest request, once; nullopt: it has not ended.
    std::optional<Ended> take();
    /// Until take() gives something, where busy().
    void wait();

  private:
    void work(const std::stop_token& closing);

    Try try_;
    std::uint64_t count_ = 0, wanted_ = 0;  // numbers of requests; 0: none
    compute::Sources sources_;

    std::mutex mutex_;  // of what follows
    std::condition_variable_any changed_;
    std::optional<experiments::TrialRequest> next_;
    std::uint64_t next_number_ = 0, ended_number_ = 0;
    std::optional<Ended> ended_;
    std::stop_source running_;

    std::jthread thread_;  // goes first
};

}  // namespace warpscope::ui
