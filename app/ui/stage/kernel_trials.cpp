#include "ui/stage/kernel_trials.h"

#include <exception>
#include <utility>

namespace warpscope::ui {

using experiments::TrialRequest;
using experiments::TrialResult;

KernelTrials::KernelTrials(Try attempt)
    : try_(std::move(attempt)),
      thread_([this](const std::stop_token& closing) { work(closing); }) {}

KernelTrials::~KernelTrials() {
    stop();
}

void KernelTrials::start(TrialRequest request) {
    stop();
    sources_ = request.sources;
    const std::lock_guard lock(mutex_);
    wanted_ = next_number_ = ++count_;
    next_ = std::move(request);
    changed_.notify_all();
}

void KernelTrials::stop() {
    std::optional<Ended> unwanted;  // its device may take a while to go, so not under the lock
    const std::lock_guard lock(mutex_);
    wanted_ = 0;
    next_.reset();
    std::swap(unwanted, ended_);
    running_.request_stop();
}

std::optional<KernelTrials::Ended> KernelTrials::take() {
    const std::lock_guard lock(mutex_);
    if (!ended_ || ended_number_ != wanted_) return {};
    wanted_ = 0;
    return std::exchange(ended_, std::nullopt);
}

void KernelTrials::wait() {
    std::unique_lock lock(mutex_);
    if (wanted_ != 0) changed_.wait(lock, [&] { return ended_ && ended_number_ == wanted_; });
}

void KernelTrials::work(const std::stop_token& closing) {
    std::unique_lock lock(mutex_);
    while (changed_.wait(lock, closing, [&] { return next_.has_value(); })) {
        Ended now{*std::exchange(next_, std::nullopt), {}};
        const std::uint64_t number = next_number_;
        running_ = std::stop_source();
        const std::stop_token stop = running_.get_token();
        lock.unlock();
        try {
            now.result = try_(now.request, stop);
        } catch (const std::exception& error) {
            now.result.error = error.what();
        }
        std::optional<Ended> done(std::move(now));
        lock.lock();
        // One that was stopped is let go of here, where it holds up nobody.
        if (!stop.stop_requested()) {
            std::swap(ended_, done);
            ended_number_ = number;
            changed_.notify_all();
        }
        lock.unlock();
        done.reset();
        lock.lock();
    }
}

}  // namespace warpscope::ui
