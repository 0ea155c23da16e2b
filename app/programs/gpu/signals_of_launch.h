#pragma once

#include <array>
#include <csignal>
#include <cstddef>
#include <iterator>
#include <stop_token>

namespace warpscope::programs {

/// While it exists, a signal that would end the process ends the launch first, so that the report
/// has what was found until then. A program that handles a signal itself keeps its handler. One
/// thread has one of them at a time.
class SignalsOfLaunch {
  public:
    SignalsOfLaunch() {
        stop_ = {};
        come_ = 0;
        for (std::size_t i = 0; i < std::size(signals); ++i) {
            struct sigaction stop {};
            stop.sa_handler = [](int signal) {
                come_ = signal;
                stop_.request_stop();
            };
            stop.sa_flags = SA_RESTART;
            sigaction(signals[i], nullptr, &before_[i]);
            if (before_[i].sa_handler == SIG_DFL) sigaction(signals[i], &stop, nullptr);
        }
    }
    /// Sends the signal that has come to the process again, which it ends.
    ~SignalsOfLaunch() {
        for (std::size_t i = 0; i < std::size(signals); ++i)
            if (before_[i].sa_handler == SIG_DFL) sigaction(signals[i], &before_[i], nullptr);
        if (come_) std::raise(come_);
    }
    SignalsOfLaunch(const SignalsOfLaunch&) = delete;
    SignalsOfLaunch& operator=(const SignalsOfLaunch&) = delete;

    std::stop_token token() const { return stop_.get_token(); }
    int come() const { return come_; }  ///< the signal that has come; 0: none

  private:
    static constexpr int signals[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM};

    std::array<struct sigaction, std::size(signals)> before_;
    static inline std::stop_source stop_;
    static inline volatile std::sig_atomic_t come_ = 0;
};

}  // namespace warpscope::programs
