#include "gl/recording.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include "compute/helper/spawn.h"
#include "gl/error.h"

extern char** environ;

// The chunks of an animated PNG are those of the PNG specification, third edition, 11.3.4.

namespace warpscope::gl {
namespace {

using Bytes = std::vector<std::uint8_t>;

void put(Bytes& to, std::uint32_t number, int bytes = 4) {
    for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8) to.push_back(number >> shift & 255);
}

std::uint32_t number_at(std::span<const std::uint8_t> bytes) {
    return std::uint32_t(bytes[0]) << 24 | bytes[1] << 16 | bytes[2] << 8 | bytes[3];
}

constexpr std::size_t frames_per_second = 30;  // of an MP4
constexpr std::size_t signature_bytes = 8, chunk_bytes = 12, sequence_bytes = 4, pixel_bytes = 4;

/// Calls f(kind, body) for each chunk of a PNG.
template <class F>
void for_chunks(std::span<const std::uint8_t> png, F&& f) {
    for (png = png.subspan(signature_bytes); png.size() >= chunk_bytes;) {
        const std::size_t length = number_at(png);
        f(std::string_view(reinterpret_cast<const char*>(&png[4]), 4), png.subspan(8, length));
        png = png.subspan(chunk_bytes + length);
    }
}

/// Each byte of `a` less that of `b`.
std::uint32_t bytes_less(std::uint32_t a, std::uint32_t b) {
    constexpr std::uint32_t highest = 0x80808080;
    return ((a | highest) - (b & ~highest)) ^ ((a ^ ~b) & highest);
}

Bytes animation_control(std::size_t frames) {
    Bytes body;
    put(body, std::uint32_t(frames));
    put(body, 0);  // plays without end
    return body;
}

}  // namespace

bool Recording::can_write(const std::filesystem::path& path) {
    const auto extension = path.extension();
    return extension == ".png" || extension == ".apng" || extension == ".mp4";
}

Recording::Recording(std::filesystem::path path, Metadata metadata)
    : path_(std::move(path)),
      partial_(path_),
      metadata_(std::move(metadata)),
      animation_(path_.extension() != ".mp4") {
    if (!can_write(path_)) fail("name a file that ends in .png, .apng or .mp4");
    partial_.replace_filename(
        fmt::format(".{}.{}{}", path_.stem().string(), ::getpid(), path_.extension().string()));
    if (!animation_) return;  // ffmpeg needs the size of the frames
    file_ = std::fopen(partial_.c_str(), "wb");
    if (!file_) fail(std::strerror(errno));
}

Recording::~Recording() {
    if (file_) std::fclose(file_);
    if (socket_ >= 0) ::close(socket_);
    if (process_ > 0) ::waitpid(process_, nullptr, 0);
    std::error_code ignored;
    std::filesystem::remove(partial_, ignored);
}

std::uintmax_t Recording::bytes() const {
    std::error_code error;
    const std::uintmax_t bytes = std::filesystem::file_size(partial_, error);
    return error ? 0 : bytes;
}

void Recording::fail(const char* why) const {
    throw Error(fmt::format("can't record {}: {}", path_.string(), why));
}

void Recording::write(std::span<const std::uint8_t> bytes) {
    if (!bytes.empty() && std::fwrite(bytes.data(), 1, bytes.size(), file_) != bytes.size())
        fail(std::strerror(errno));
}

/// A socket, unlike a pipe, can be written to without a signal where ffmpeg has ended.
void Recording::send(std::span<const std::uint8_t> bytes) {
    while (!bytes.empty()) {
        const ssize_t sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR) continue;
        if (sent <= 0) fail("ffmpeg has ended early");
        bytes = bytes.subspan(std::size_t(sent));
    }
}

void Recording::chunk(std::string_view kind, std::span<const std::uint8_t> body) {
    Bytes number;
    put(number, std::uint32_t(body.size()));
    write(number);
    const std::span name(reinterpret_cast<const std::uint8_t*>(kind.data()), kind.size());
    write(name);
    write(body);
    auto crc = ::crc32(0, name.data(), uInt(name.size()));
    if (!body.empty()) crc = ::crc32(crc, body.data(), uInt(body.size()));
    number.clear();
    put(number, std::uint32_t(crc));
    write(number);
}

/// Where row `y` of a picture begins in its pixels; 0 is the top one.
std::size_t Recording::row_at(int y) const {
    const int row = rows_ == Rows::top_first ? y : height_ - 1 - y;
    return std::size_t(row) * std::size_t(width_) * pixel_bytes;
}

/// The smallest rectangle that holds all pixels that differ from the frame before; of equal frames
/// one pixel, since no frame is left out.
Recording::Area Recording::changed(std::span<const std::uint8_t> pixels) const {
    if (frames_ == 0) return {0, 0, width_, height_};
    int left = width_, right = -1, top = height_, bottom = -1;
    for (int y = 0; y < height_; ++y) {
        const auto* now = &pixels[row_at(y)];
        const auto* old = &before_[row_at(y)];
        if (std::memcmp(now, old, std::size_t(width_) * pixel_bytes) == 0) continue;
        const auto differs = [&](int x) {
            return std::memcmp(now + pixel_bytes * x, old + pixel_bytes * x, 3) != 0;
        };
        int first = 0, last = width_ - 1;
        while (first < width_ && !differs(first)) ++first;
        if (first == width_) continue;  // only bytes differ that mean nothing
        while (!differs(last)) --last;
        left = std::min(left, first);
        right = std::max(right, last);
        top = std::min(top, y);
        bottom = y;
    }
    if (right < 0) return {0, 0, 1, 1};
    return {left, top, right - left + 1, bottom - top + 1};
}

std::vector<std::uint8_t> Recording::add(int width, int height, std::vector<std::uint8_t> pixels,
                                         Rows rows, std::chrono::milliseconds shown) {
    if (frames_ > 0 && (width != width_ || height != height_))
        fail("its frames must have one size; end the recording before you change the size");
    width_ = width;
    height_ = height;
    rows_ = rows;
    if (animation_) {
        if (frames_ == 0) begin_animation();
        add_to_animation(pixels, shown);
        std::swap(before_, pixels);
    } else {
        if (frames_ == 0) begin_ffmpeg();
        length_ += shown;
        do send(pixels);
        while (++sent_ * 1000 / frames_per_second < std::size_t(length_.count()));
    }
    ++frames_;
    return pixels;
}

/// Everything before the first frame.
void Recording::begin_animation() {
    constexpr std::array<std::uint8_t, pixel_bytes> pixel{};
    const Bytes png = encode_png(1, 1, pixel, metadata_);
    write(std::span(png).first(signature_bytes));
    Bytes header;
    put(header, std::uint32_t(width_));
    put(header, std::uint32_t(height_));
    header.insert(header.end(), {8, 2, 0, 0, 0});  // 8 bits of red, green and blue
    chunk("IHDR", header);
    counts_at_ = std::ftell(file_);
    chunk("acTL", animation_control(1));
    for_chunks(png, [&](std::string_view kind, std::span<const std::uint8_t> body) {
        if (kind == "tEXt" || kind == "iTXt") chunk(kind, body);
    });
}

void Recording::add_to_animation(std::span<const std::uint8_t> pixels,
                                 std::chrono::milliseconds shown) {
    const Area area = changed(pixels);
    Bytes control;
    put(control, sequence_++);
    for (const int number : {area.width, area.height, area.x, area.y})
        put(control, std::uint32_t(number));
    put(control, std::uint32_t(std::clamp<std::int64_t>(shown.count(), 1, 60000)), 2);
    put(control, 1000, 2);
    put(control, 0, 2);  // the next frame is drawn over this one
    chunk("fcTL", control);
    const std::span<std::uint8_t> data = compressed(area, pixels);
    if (frames_ == 0) return chunk("IDAT", data.subspan(sequence_bytes));
    Bytes number;
    put(number, sequence_++);
    std::ranges::copy(number, data.begin());
    chunk("fdAT", data);
}

/// The data of an "fdAT" chunk, with room for its sequence number: each pixel less the one above it
/// (PNG's filter "Up"), compressed as runs, which takes the least time.
std::span<std::uint8_t> Recording::compressed(const Area& area,
                                              std::span<const std::uint8_t> pixels) {
    const std::size_t row_bytes = 1 + 3 * std::size_t(area.width);
    const std::size_t size = row_bytes * std::size_t(area.height);
    if (filtered_.size() <= size) filtered_.resize(size + 1);  // a store of 4 bytes writes 3
    std::uint8_t* out = filtered_.data();
    const Bytes nothing(std::size_t(area.width) * pixel_bytes);
    for (int y = 0; y < area.height; ++y) {
        const std::size_t left = std::size_t(area.x) * pixel_bytes;
        const std::uint8_t* now = &pixels[row_at(area.y + y) + left];
        const std::uint8_t* above = y > 0 ? &pixels[row_at(area.y + y - 1) + left] : nothing.data();
        *out++ = 2;
        for (int x = 0; x < area.width; ++x, out += 3) {
            std::uint32_t a = 0, b = 0;
            std::memcpy(&a, now + pixel_bytes * x, pixel_bytes);
            std::memcpy(&b, above + pixel_bytes * x, pixel_bytes);
            const std::uint32_t difference = bytes_less(a, b);
            std::memcpy(out, &difference, pixel_bytes);
        }
    }
    z_stream stream{};
    if (::deflateInit2(&stream, 1, Z_DEFLATED, 15, 9, Z_RLE) != Z_OK) fail("out of memory");
    packed_.resize(std::max(packed_.size(), sequence_bytes + ::deflateBound(&stream, size)));
    stream.next_in = filtered_.data();
    stream.avail_in = uInt(size);
    stream.next_out = packed_.data() + sequence_bytes;
    stream.avail_out = uInt(packed_.size() - sequence_bytes);
    ::deflate(&stream, Z_FINISH);
    ::deflateEnd(&stream);
    return std::span(packed_).first(sequence_bytes + stream.total_out);
}

void Recording::begin_ffmpeg() {
    std::string comment;
    for (const auto& [keyword, text] : metadata_)
        if (keyword == "command") comment = "comment=" + text;
    std::vector<std::string> words{
        "ffmpeg",
        "-y",
        "-loglevel",
        "error",
        "-f",
        "rawvideo",
        "-pix_fmt",
        "rgb0",
        "-s",
        fmt::format("{}x{}", width_, height_),
        "-r",
        std::to_string(frames_per_second),
        "-i",
        "-",
        "-metadata",
        comment,
        "-vf",
        fmt::format("{}pad=ceil(iw/2)*2:ceil(ih/2)*2", rows_ == Rows::bottom_first ? "vflip," : ""),
        "-pix_fmt",
        "yuv420p",
        "-preset",
        "ultrafast",
        partial_.string()};
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) fail(std::strerror(errno));
    compute::SpawnFiles files;
    files.give(ends[0], STDIN_FILENO);
    const int error = ::posix_spawnp(&process_, "ffmpeg", files.get(), nullptr,
                                     compute::pointers_to(words).data(), environ);
    ::close(ends[0]);
    socket_ = ends[1];
    if (error != 0) process_ = -1;
    if (error == ENOENT) fail("an MP4 needs the program ffmpeg; install it, or name a .png file");
    if (error != 0) fail(std::strerror(error));
}

void Recording::finish() {
    if (frames_ == 0) fail("it has no frame");
    if (animation_) {
        chunk("IEND", {});
        if (std::fseek(file_, counts_at_, SEEK_SET) != 0) fail(std::strerror(errno));
        chunk("acTL", animation_control(frames_));
    }
    if (file_ && std::fclose(std::exchange(file_, nullptr)) != 0) fail(std::strerror(errno));
    if (socket_ >= 0) ::close(std::exchange(socket_, -1));
    int status = 0;
    if (process_ > 0) ::waitpid(std::exchange(process_, -1), &status, 0);
    if (status != 0) fail("ffmpeg has failed; its message is above");
    std::error_code error;
    std::filesystem::rename(partial_, path_, error);
    if (error) fail(error.message().c_str());
}

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
