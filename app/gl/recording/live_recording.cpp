#include "gl/recording/live_recording.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

namespace warpscope::gl {

LiveRecording::LiveRecording(std::filesystem::path path, Metadata metadata, int width, int height)
    : width_(width),
      height_(height),
      recording_(std::move(path), std::move(metadata)),
      thread_([this] { write_frames(); }) {}

LiveRecording::~LiveRecording() {
    {
        const std::scoped_lock lock(mutex_);
        discards_ = true;
    }
    end_thread();
}

bool LiveRecording::is_due() {
    const auto now = Clock::now();
    if (now < due_) return false;
    due_ = now + between;
    const std::scoped_lock lock(mutex_);
    if (waiting_.size() < most_waiting) return true;
    ++dropped_;
    return false;
}

std::chrono::seconds LiveRecording::length() const {
    return std::chrono::duration_cast<std::chrono::seconds>(Clock::now() - begun_);
}

std::vector<std::uint8_t> LiveRecording::room() {
    std::vector<std::uint8_t> pixels;
    {
        const std::scoped_lock lock(mutex_);
        if (!spare_.empty()) {
            pixels = std::move(spare_.back());
            spare_.pop_back();
        }
    }
    pixels.resize(std::size_t(width_) * std::size_t(height_) * 4);
    return pixels;
}

void LiveRecording::add(std::vector<std::uint8_t> pixels) {
    end_frame();
    newest_ = std::move(pixels);
    newest_at_ = Clock::now();
    const std::scoped_lock lock(mutex_);
    if (error_) std::rethrow_exception(error_);
}

/// The newest frame is on show no longer.
void LiveRecording::end_frame() {
    if (newest_.empty()) return;
    const auto shown =
        std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - newest_at_);
    const std::scoped_lock lock(mutex_);
    waiting_.push_back({std::exchange(newest_, {}), shown});
    changed_.notify_one();
}

void LiveRecording::end_thread() {
    {
        const std::scoped_lock lock(mutex_);
        ends_ = true;
        changed_.notify_one();
    }
    if (thread_.joinable()) thread_.join();
}

std::size_t LiveRecording::finish() {
    end_frame();
    end_thread();
    if (error_) std::rethrow_exception(error_);
    recording_.finish();
    return recording_.frames();
}

/// ffmpeg, which the first frame starts, has the priority of this thread.
void LiveRecording::write_frames() {
    constexpr int lowest = 19;
    ::setpriority(PRIO_PROCESS, id_t(::gettid()), lowest);
    for (;;) {
        Frame frame;
        {
            std::unique_lock lock(mutex_);
            changed_.wait(lock, [this] { return ends_ || !waiting_.empty(); });
            if (waiting_.empty() || discards_ || error_) return;
            frame = std::move(waiting_.front());
            waiting_.pop_front();
        }
        std::vector<std::uint8_t> room;
        try {
            room = recording_.add(width_, height_, std::move(frame.pixels), Rows::bottom_first,
                                  frame.shown);
        } catch (...) {
            const std::scoped_lock lock(mutex_);
            error_ = std::current_exception();
            return;
        }
        const std::scoped_lock lock(mutex_);
        spare_.push_back(std::move(room));
    }
}

}  // namespace warpscope::gl
