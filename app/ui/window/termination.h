#pragma once

namespace warpscope::ui {

/// While it exists, SIGINT and SIGTERM do not end the process at once: the window sees the signal
/// between two frames, saves what is to be kept and then ends. A second signal ends the process at
/// once. A signal that was ignored before stays ignored. There may be one such object at a time.
class Termination {
  public:
    Termination();
    ~Termination();
    Termination(const Termination&) = delete;
    Termination& operator=(const Termination&) = delete;

    /// A signal has come.
    bool requested() const;
    /// Ends the process by the signal that has come, so that shells see it.
    void end_process() const;
};

}  // namespace warpscope::ui
