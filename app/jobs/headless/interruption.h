#pragma once

#include <chrono>
#include <stop_token>
#include <thread>

#include "compute/helper/termination_signal.h"

namespace warpscope::jobs {

/// While it exists, SIGINT and SIGTERM do not end the process but stop its work, so that it can
/// write what it has. A second signal ends the process at once.
class Interruption {
  public:
    /// `for_results`: how long results may be computed after the signal.
    explicit Interruption(std::chrono::milliseconds for_results);

    /// Requested by the first signal.
    std::stop_token work() const { return work_.get_token(); }
    /// Requested when the time for results is over.
    std::stop_token results() const { return results_.get_token(); }
    /// The first signal; 0: none came so far.
    int signal() const { return signal_.number(); }

  private:
    void follow(const std::stop_token& closing, std::chrono::milliseconds for_results);

    std::stop_source work_, results_;
    compute::TerminationSignal signal_;
    std::jthread thread_;  ///< destroyed first
};

/// Thrown when everything that could be written is written: the process is to end by this signal.
struct Interrupted {
    int signal;
};

}  // namespace warpscope::jobs
