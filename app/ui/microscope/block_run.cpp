#include "ui/microscope/block_run.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "ui/language/language.h"
#include "ui/widgets/futures.h"

namespace warpscope::ui {

using emulator::Stepper;

namespace {

/// Most runs end within this time, so that no frame is drawn without the block.
constexpr std::chrono::milliseconds patience{20};

}  // namespace

/// Runs the block to its end and back, if its steps are not known yet.
void BlockRun::State::look_ahead() {
    const std::uint64_t here = stepper->position();
    if (here < stepper->history().size()) return;
    stepper->run(std::max(horizon, here));
    complete = stepper->end() != Stepper::End::open;
    findings = stepper->findings();
    stepper->seek(here);
}

template <class Work>
void BlockRun::start(Work work) {
    since_ = std::chrono::steady_clock::now();
    const bool here = where_ == Where::here;
    work_ = std::async(here ? std::launch::deferred : std::launch::async, std::move(work));
    if (here || work_.wait_for(patience) == std::future_status::ready) now_ = work_.get();
}

void BlockRun::open(emulator::Machine& machine, emulator::FrozenLaunch launch, std::uint32_t block,
                    std::uint64_t step, Where where) {
    close();
    where_ = where;
    stop_ = std::stop_source();
    launch.settings.stop = stop_.get_token();
    launch.settings.progress = progress_;
    start([&machine, launch = std::move(launch), block, step] {
        State state;
        try {
            state.stepper = std::make_unique<Stepper>(machine, launch, block);
            state.look_ahead();
            state.stepper->seek(step);
        } catch (const std::exception& error) {
            state = {};
            state.complaint = launch.settings.stop.stop_requested()
                                  ? tr("Opening the block was cancelled.")
                                  : error.what();
        }
        return state;
    });
}

void BlockRun::change(Change change) {
    stop_ = std::stop_source();
    now_.stepper->set_stop(stop_.get_token());
    start([state = std::exchange(now_, {}), change = std::move(change)]() mutable {
        try {
            state.notice = change(*state.stepper);
            state.look_ahead();
        } catch (const std::exception& error) {
            state.notice = files::words_of(error);
        }
        return std::move(state);
    });
}

void BlockRun::close() {
    stop_.request_stop();
    work_ = {};  // waits for its end
    now_ = {};
}

bool BlockRun::finish() {
    if (!is_ready(work_)) return false;
    now_ = work_.get();
    return true;
}

}  // namespace warpscope::ui
