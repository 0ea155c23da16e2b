#include "ui/window/termination.h"

#include <csignal>
#include <initializer_list>

namespace warpscope::ui {
namespace {

volatile std::sig_atomic_t newest = 0;

constexpr std::initializer_list<int> handled{SIGINT, SIGTERM};

void on_signal(int signal) {
    newest = signal;
    std::signal(signal, SIG_DFL);
}

}  // namespace

Termination::Termination() {
    newest = 0;
    for (const int signal : handled)
        if (std::signal(signal, on_signal) == SIG_IGN) std::signal(signal, SIG_IGN);
}

Termination::~Termination() {
    for (const int signal : handled)
        if (const auto now = std::signal(signal, SIG_DFL); now != on_signal)
            std::signal(signal, now);
}

bool Termination::requested() const {
    return newest != 0;
}

void Termination::end_process() const {
    std::signal(newest, SIG_DFL);
    std::raise(newest);
}

}  // namespace warpscope::ui
