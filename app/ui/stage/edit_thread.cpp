#include "ui/stage/edit_thread.h"

#include <exception>
#include <utility>

namespace warpscope::ui {

EditThread::EditThread(Try try_edits)
    : try_(std::move(try_edits)),
      thread_([this](const std::stop_token& closing) { work(closing); }) {}

EditThread::~EditThread() {
    stop();
}

void EditThread::start(experiments::EditRequest request) {
    stop();
    current_ = std::make_shared<Job>();
    current_->request = std::move(request);
    const std::lock_guard lock(mutex_);
    next_ = current_;
    changed_.notify_all();
}

void EditThread::stop() {
    // The job's result may hold a device that takes a while to destroy, so that happens without the
    // lock.
    const std::shared_ptr<Job> unwanted = std::exchange(current_, nullptr);
    if (!unwanted) return;
    unwanted->stop.request_stop();
    const std::lock_guard lock(mutex_);
    next_.reset();
}

std::optional<EditThread::Ended> EditThread::take() {
    const std::lock_guard lock(mutex_);
    if (!current_ || !current_->ended) return {};
    const std::shared_ptr<Job> job = std::exchange(current_, nullptr);
    return Ended{std::move(job->request), std::move(job->result)};
}

void EditThread::wait() {
    std::unique_lock lock(mutex_);
    if (current_) changed_.wait(lock, [&] { return current_->ended; });
}

void EditThread::work(const std::stop_token& closing) {
    std::unique_lock lock(mutex_);
    while (changed_.wait(lock, closing, [&] { return next_ != nullptr; })) {
        std::shared_ptr<Job> job = std::exchange(next_, nullptr);
        lock.unlock();
        experiments::EditResult result;
        try {
            result = try_(job->request, job->stop.get_token());
        } catch (const std::exception& error) {
            result.error = error.what();
        }
        lock.lock();
        job->result = std::move(result);
        job->ended = true;
        changed_.notify_all();
        lock.unlock();
        // This is the last owner of a request that was given up: its device is destroyed here,
        // where nobody waits.
        job.reset();
        lock.lock();
    }
}

}  // namespace warpscope::ui
