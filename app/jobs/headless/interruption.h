#pragma once

#include <atomic>
#include <chrono>
#include <stop_token>
#include <thread>

namespace warpscope::jobs {

/// While it exists, SIGINT and SIGTERM do not end the process but stop its work, so that it can
/// write what it has. A second signal ends the process at once. A signal that was ignored before
/// stays ignored. There may be one such object at a time.
class Interruption {
  public:
    /// `for_results`: how long results may be computed after the signal.
    explicit Interruption(std::chrono::milliseconds for_results);
    ~Interruption();
    Interruption(const Interruption&) = delete;
    Interruption& operator=(const Interruption&) = delete;

    /// Requested by the first signal.
    std::stop_token work() const { return work_.get_token(); }
    /// Requested when the time for results is over.
    std::stop_token results() const { return results_.get_token(); }
    /// The first signal; 0: none came so far.
    int signal() const;

  private:
    void wait(std::chrono::milliseconds for_results);

    std::stop_source work_, results_;
    std::atomic<bool> closing_ = false;
    std::jthread thread_;
};

/// Thrown when everything is written that could be: the process is to end by this signal.
struct Interrupted {
    int signal;
};

/// Ends the process by a signal, as if nothing had handled it.
[[noreturn]] void end_by(int signal);

}  // namespace warpscope::jobs
