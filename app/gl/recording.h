#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <deque>
#include <exception>
#include <filesystem>
#include <memory>
#include <mutex>
#include <span>
#include <string_view>
#include <thread>
#include <vector>

#include "gl/png.h"

namespace warpscope::gl {

/// In which order the rows of a frame's pixels stand.
enum class Rows { top_first, bottom_first };

/// A moving picture that is written while its frames are made: an animated PNG (.png, .apng), or an
/// MP4 by the program ffmpeg (.mp4). It plays again and again. No frame is left out.
class Recording {
  public:
    /// `metadata` is for the texts of an animated PNG, and the comment of an MP4. Throws Error for
    /// another extension, where no file can be made, and where ffmpeg is missing.
    Recording(std::filesystem::path path, Metadata metadata);
    /// Without finish() the file is removed.
    ~Recording();
    Recording(const Recording&) = delete;
    Recording& operator=(const Recording&) = delete;

    /// Adds an opaque frame (r, g, b and a byte that means nothing) that is shown for this time; an
    /// MP4 repeats it each 1/30 s. All frames have the size and the order of rows of the first one.
    /// Returns pixels that are needed no longer, as room for others. Throws Error if the size is
    /// another one, or the disk is full.
    std::vector<std::uint8_t> add(int width, int height, std::vector<std::uint8_t> pixels,
                                  Rows rows, std::chrono::milliseconds shown);
    /// Completes the file under its name. Throws Error if it has no frame, or can't be written.
    void finish();

    std::size_t frames() const { return frames_; }
    /// Of the file so far.
    std::uintmax_t bytes() const;
    const std::filesystem::path& path() const { return path_; }

    /// Whether the extension of a file is one of those above.
    static bool can_write(const std::filesystem::path& path);

  private:
    struct Area {
        int x = 0, y = 0, width = 0, height = 0;
    };
    std::size_t row_at(int y) const;
    Area changed(std::span<const std::uint8_t> pixels) const;
    std::span<std::uint8_t> compressed(const Area& area, std::span<const std::uint8_t> pixels);
    void begin_animation();
    void begin_ffmpeg();
    void add_to_animation(std::span<const std::uint8_t> pixels, std::chrono::milliseconds shown);
    void chunk(std::string_view kind, std::span<const std::uint8_t> body);
    void write(std::span<const std::uint8_t> bytes);
    void send(std::span<const std::uint8_t> bytes);
    [[noreturn]] void fail(const char* why) const;

    std::filesystem::path path_, partial_;
    Metadata metadata_;
    bool animation_;
    std::FILE* file_ = nullptr;  ///< of an animated PNG
    int process_ = -1;           ///< ffmpeg
    int socket_ = -1;            ///< that ffmpeg reads
    int width_ = 0, height_ = 0;
    Rows rows_ = Rows::top_first;
    std::vector<std::uint8_t> before_;             ///< the newest frame
    std::vector<std::uint8_t> filtered_, packed_;  ///< room for the bytes of a frame
    std::size_t frames_ = 0, sent_ = 0;            ///< added, and sent to ffmpeg
    std::chrono::milliseconds length_{};
    std::uint32_t sequence_ = 0;  ///< of chunks
    long counts_at_ = 0;          ///< where the number of frames stands in the file
};

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
    /// Of the file so far.
    std::uintmax_t bytes() const { return recording_.bytes(); }
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
