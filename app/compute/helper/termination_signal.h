#pragma once

#include <stop_token>

namespace warpscope::compute {

/// While it exists, SIGINT and SIGTERM do not end the process, so that it can save its work first.
/// A second signal ends the process at once. A signal that was ignored before stays ignored. There
/// may be one such object at a time.
class TerminationSignal {
  public:
    TerminationSignal();
    ~TerminationSignal();
    TerminationSignal(const TerminationSignal&) = delete;
    TerminationSignal& operator=(const TerminationSignal&) = delete;

    /// The first signal; 0: none came so far. Any thread may ask.
    int number() const;
    /// Waits until a signal comes or `stop` is requested. One thread may call it, once.
    void wait(const std::stop_token& stop) const;
};

/// Ends the process by a signal, as if nothing had handled it, so that shells see the signal.
[[noreturn]] void end_by(int signal);

}  // namespace warpscope::compute
