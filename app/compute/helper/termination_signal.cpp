#include "compute/helper/termination_signal.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <initializer_list>

namespace warpscope::compute {
namespace {

// A signal handler may use these variables and little else.
std::atomic<int> first_signal = 0;
std::atomic<int> wake = -1;  // an eventfd

constexpr std::initializer_list<int> handled{SIGINT, SIGTERM};

void wake_thread() {
    const std::uint64_t one = 1;
    [[maybe_unused]] const auto written = ::write(wake, &one, sizeof one);
}

void on_signal(int signal) {
    const int error = errno;
    int none = 0;
    if (first_signal.compare_exchange_strong(none, signal)) {
        wake_thread();
    } else {
        std::signal(signal, SIG_DFL);
        std::raise(signal);  // takes effect when this handler returns
    }
    errno = error;
}

}  // namespace

TerminationSignal::TerminationSignal() {
    first_signal = 0;
    wake = ::eventfd(0, EFD_CLOEXEC);
    for (const int signal : handled) {
        struct sigaction now {};
        ::sigaction(signal, nullptr, &now);
        if (now.sa_handler == SIG_IGN) continue;
        now = {};
        now.sa_handler = on_signal;
        now.sa_flags = SA_RESTART;
        ::sigaction(signal, &now, nullptr);
    }
}

TerminationSignal::~TerminationSignal() {
    for (const int signal : handled) {
        struct sigaction now {};
        ::sigaction(signal, nullptr, &now);
        if (now.sa_handler == on_signal) std::signal(signal, SIG_DFL);
    }
    ::close(wake.exchange(-1));
}

int TerminationSignal::number() const {
    return first_signal;
}

void TerminationSignal::wait(const std::stop_token& stop) const {
    const std::stop_callback stopped(stop, wake_thread);
    std::uint64_t count = 0;
    while (::read(wake, &count, sizeof count) < 0 && errno == EINTR) {
    }
}

void end_by(int signal) {
    std::signal(signal, SIG_DFL);
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, signal);
    ::pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
    std::raise(signal);
    std::abort();
}

}  // namespace warpscope::compute
