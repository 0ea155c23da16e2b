#include "gl/recording/recording.h"

#include <fmt/format.h>
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
constexpr std::size_t signature_bytes = 8, chunk_bytes = 12;

/// Calls f(kind, body) for each chunk of a PNG.
template <class F>
void for_chunks(std::span<const std::uint8_t> png, F&& f) {
    for (png = png.subspan(signature_bytes); png.size() >= chunk_bytes;) {
        const std::size_t length = number_at(png);
        f(std::string_view(reinterpret_cast<const char*>(&png[4]), 4), png.subspan(8, length));
        png = png.subspan(chunk_bytes + length);
    }
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

void Recording::fail(const char* why) const {
    throw Error(fmt::format("can't record {}: {}", path_.string(), why));
}

void Recording::write(std::span<const std::uint8_t> bytes) {
    if (std::fwrite(bytes.data(), 1, bytes.size(), file_) != bytes.size())
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

void Recording::chunk(const char* kind, std::span<const std::uint8_t> body) {
    Bytes bytes;
    put(bytes, std::uint32_t(body.size()));
    bytes.insert(bytes.end(), kind, kind + 4);
    bytes.insert(bytes.end(), body.begin(), body.end());
    put(bytes, std::uint32_t(::crc32(0, bytes.data() + 4, uInt(bytes.size() - 4))));
    write(bytes);
}

/// The smallest rectangle that holds all pixels that differ from the frame before; of equal frames
/// one pixel, since no frame is left out.
Recording::Area Recording::changed(int width, int height,
                                   std::span<const std::uint8_t> rgba) const {
    if (frames_ == 0) return {0, 0, width, height};
    const std::size_t row_bytes = std::size_t(width) * 4;
    int left = width, right = -1, top = height, bottom = -1;
    for (int y = 0; y < height; ++y) {
        const auto* now = &rgba[std::size_t(y) * row_bytes];
        const auto* old = &before_[std::size_t(y) * row_bytes];
        if (std::memcmp(now, old, row_bytes) == 0) continue;
        const auto differs = [&](int x) { return std::memcmp(now + 4 * x, old + 4 * x, 4) != 0; };
        int first = 0, last = width - 1;
        while (!differs(first)) ++first;
        while (!differs(last)) --last;
        left = std::min(left, first);
        right = std::max(right, last);
        top = std::min(top, y);
        bottom = y;
    }
    if (right < 0) return {0, 0, 1, 1};
    return {left, top, right - left + 1, bottom - top + 1};
}

void Recording::add(int width, int height, std::span<const std::uint8_t> rgba,
                    std::chrono::milliseconds shown) {
    if (frames_ > 0 && (width != width_ || height != height_))
        fail("its frames must have one size; end the recording before you change the size");
    width_ = width;
    height_ = height;
    if (animation_) {
        add_to_animation(changed(width, height, rgba), rgba, shown);
        before_.assign(rgba.begin(), rgba.end());
    } else {
        if (socket_ < 0) begin_ffmpeg(width, height);
        length_ += shown;
        do send(rgba);
        while (++sent_ * 1000 / frames_per_second < std::size_t(length_.count()));
    }
    ++frames_;
}

void Recording::add_to_animation(const Area& area, std::span<const std::uint8_t> rgba,
                                 std::chrono::milliseconds shown) {
    Bytes part;
    part.reserve(std::size_t(area.width) * std::size_t(area.height) * 4);
    for (int y = area.y; y < area.y + area.height; ++y) {
        const auto row =
            rgba.subspan((std::size_t(y) * std::size_t(width_) + std::size_t(area.x)) * 4,
                         std::size_t(area.width) * 4);
        part.insert(part.end(), row.begin(), row.end());
    }
    const bool first = frames_ == 0;
    const Bytes png =
        encode_png(area.width, area.height, part, first ? metadata_ : Metadata(), Effort::quick);
    Bytes control;
    const auto write_control = [&] {
        put(control, sequence_++);
        for (const int number : {area.width, area.height, area.x, area.y})
            put(control, std::uint32_t(number));
        put(control, std::uint32_t(std::clamp<std::int64_t>(shown.count(), 1, 60000)), 2);
        put(control, 1000, 2);
        put(control, 0, 2);  // the next frame is drawn over this one
        chunk("fcTL", control);
    };
    if (first) write(std::span(png).first(signature_bytes));
    for_chunks(png, [&](std::string_view kind, std::span<const std::uint8_t> body) {
        if (kind == "IDAT") {
            if (control.empty()) write_control();
            if (first) return chunk("IDAT", body);
            Bytes data;
            put(data, sequence_++);
            data.insert(data.end(), body.begin(), body.end());
            chunk("fdAT", data);
        } else if (first && kind != "IEND") {
            chunk(std::string(kind).c_str(), body);
            if (kind != "IHDR") return;
            counts_at_ = std::ftell(file_);
            chunk("acTL", animation_control(1));
        }
    });
}

void Recording::begin_ffmpeg(int width, int height) {
    std::string comment;
    for (const auto& [keyword, text] : metadata_)
        if (keyword == "command") comment = "comment=" + text;
    std::vector<std::string> words{"ffmpeg",
                                   "-y",
                                   "-loglevel",
                                   "error",
                                   "-f",
                                   "rawvideo",
                                   "-pix_fmt",
                                   "rgba",
                                   "-s",
                                   fmt::format("{}x{}", width, height),
                                   "-r",
                                   std::to_string(frames_per_second),
                                   "-i",
                                   "-",
                                   "-metadata",
                                   comment,
                                   "-vf",
                                   "pad=ceil(iw/2)*2:ceil(ih/2)*2",
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

}  // namespace warpscope::gl
