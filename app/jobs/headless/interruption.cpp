#include "jobs/headless/interruption.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <initializer_list>

namespace warpscope::jobs {
namespace {

// Only what a signal handler may use: there is one Interruption, and its thread does the rest.
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

Interruption::Interruption(std::chrono::milliseconds for_results) {
    first_signal = 0;
    wake = ::eventfd(0, EFD_CLOEXEC);
    thread_ = std::jthread([this, for_results] { wait(for_results); });
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

Interruption::~Interruption() {
    for (const int signal : handled) {
        struct sigaction now {};
        ::sigaction(signal, nullptr, &now);
        if (now.sa_handler == on_signal) std::signal(signal, SIG_DFL);
    }
    closing_ = true;
    wake_thread();
    thread_.join();
    ::close(wake.exchange(-1));
}

int Interruption::signal() const {
    return first_signal;
}

void Interruption::wait(std::chrono::milliseconds for_results) {
    std::uint64_t count = 0;
    while (::read(wake, &count, sizeof count) < 0 && errno == EINTR) {
    }
    if (closing_) return;
    work_.request_stop();
    pollfd closing{wake, POLLIN, 0};
    if (::poll(&closing, 1, int(for_results.count())) == 0) results_.request_stop();
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

}  // namespace warpscope::jobs
