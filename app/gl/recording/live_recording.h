#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <filesystem>
#include <mutex>
#include <thread>
#include <vector>

#include "gl/recording/recording.h"

namespace warpscope::gl {

/// A recording of a window, at most 30 frames a second, which a thread of its own compresses. Each
/// frame is shown for as long as the window showed it. The thread has the lowest priority, and
/// while it has many frames to compress, further ones are dropped: the window goes on.
class LiveRecording {
  public:
    using Clock = std::chrono::steady_clock;

    /// Throws Error.
    LiveRecording(std::filesystem::path path, Metadata metadata, int width, int height);
    /// Without finish() nothing is kept.
    ~LiveRecording();

    int width() const { return width_; }
    int height() const { return height_; }
    const std::filesystem::path& path() const { return recording_.path(); }
    /// Whether a frame that is drawn now is to be added. Counts it if it is dropped.
    bool is_due();
    std::size_t dropped() const { return dropped_; }
    /// Since it was begun.
    std::chrono::seconds length() const;
    /// Room for the pixels of a frame, with any contents: that of a frame which is compressed.
    std::vector<std::uint8_t> room();
    /// Adds the pixels of the frame that is on show from now on, as OpenGL reads them: r, g, b, a,
    /// bottom row first. They are opaque. Throws what the thread has thrown.
    void add(std::vector<std::uint8_t> pixels);
    /// Waits until all frames are written, completes the file, and returns their number. Throws
    /// Error.
    std::size_t finish();

  private:
    struct Frame {
        std::vector<std::uint8_t> pixels;
        std::chrono::milliseconds shown{};
    };
    void write_frames();
    void end_frame();
    void end_thread();

    static constexpr std::chrono::milliseconds between{33};
    static constexpr std::size_t most_waiting = 8;

    const int width_, height_;
    Recording recording_;
    std::vector<std::uint8_t> newest_;  ///< on show since `newest_at_`
    Clock::time_point newest_at_{}, due_{};
    const Clock::time_point begun_ = Clock::now();
    std::size_t dropped_ = 0;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<Frame> waiting_;
    std::vector<std::vector<std::uint8_t>> spare_;  ///< of frames that are compressed
    bool ends_ = false, discards_ = false;
    std::exception_ptr error_;
    std::thread thread_;
};

}  // namespace warpscope::gl
