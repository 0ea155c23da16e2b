#include "gl/recording.h"

#include <gtest/gtest.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

#include "gl/error.h"
#include "pixels.h"

namespace warpscope::gl {
namespace {

namespace fs = std::filesystem;
using Bytes = std::vector<std::uint8_t>;
using std::chrono::milliseconds;

std::uint32_t number(const Bytes& bytes, std::size_t at) {
    return std::uint32_t(bytes[at]) << 24 | bytes[at + 1] << 16 | bytes[at + 2] << 8 |
           bytes[at + 3];
}

void put(Bytes& to, std::uint32_t value) {
    for (const int shift : {24, 16, 8, 0}) to.push_back(value >> shift & 255);
}

void put_chunk(Bytes& to, const std::string& kind, const Bytes& body) {
    put(to, std::uint32_t(body.size()));
    const std::size_t from = to.size();
    to.insert(to.end(), kind.begin(), kind.end());
    to.insert(to.end(), body.begin(), body.end());
    put(to, std::uint32_t(::crc32(0, &to[from], uInt(to.size() - from))));
}

struct Frame {
    int width = 0, height = 0, x = 0, y = 0, milliseconds = 0;
    Bytes data;  ///< compressed
};

/// An animated PNG as a viewer shows it: each frame as a whole picture.
struct Animation {
    std::uint32_t announced = 0;
    std::vector<Frame> frames;
    std::vector<Image> pictures;
};

/// Reads the chunks, checks their sums and sequence numbers, and draws the frames over each other.
Animation read_animation(const Bytes& file) {
    Animation all;
    std::uint32_t sequence = 0;
    for (std::size_t at = 8; at + 12 <= file.size();) {
        const std::size_t length = number(file, at);
        const std::string kind(file.begin() + long(at) + 4, file.begin() + long(at) + 8);
        Bytes body(file.begin() + long(at) + 8, file.begin() + long(at + 8 + length));
        EXPECT_EQ(number(file, at + 8 + length), ::crc32(0, &file[at + 4], uInt(length + 4)))
            << kind;
        if (kind == "acTL") all.announced = number(body, 0);
        if (kind == "fcTL" || kind == "fdAT") {
            EXPECT_EQ(number(body, 0), sequence++) << kind;
            body.erase(body.begin(), body.begin() + 4);
        }
        if (kind == "fcTL")
            all.frames.push_back({int(number(body, 0)),
                                  int(number(body, 4)),
                                  int(number(body, 8)),
                                  int(number(body, 12)),
                                  body[16] << 8 | body[17],
                                  {}});
        if (kind == "IDAT" || kind == "fdAT")
            all.frames.back().data.insert(all.frames.back().data.end(), body.begin(), body.end());
        at += 12 + length;
    }
    for (const Frame& frame : all.frames) {
        Bytes png(file.begin(), file.begin() + 8), header;
        put(header, std::uint32_t(frame.width));
        put(header, std::uint32_t(frame.height));
        header.insert(header.end(), {8, 2, 0, 0, 0});
        put_chunk(png, "IHDR", header);
        put_chunk(png, "IDAT", frame.data);
        put_chunk(png, "IEND", {});
        const Image part = decode_png(png);
        Image whole = all.pictures.empty() ? part : all.pictures.back();
        for (int y = 0; y < part.height; ++y)
            std::copy_n(&part.rgba[std::size_t(y * part.width) * 4], part.width * 4,
                        &whole.rgba[std::size_t((frame.y + y) * whole.width + frame.x) * 4]);
        all.pictures.push_back(std::move(whole));
    }
    return all;
}

class RecordingTest : public testing::Test {
  protected:
    RecordingTest() { fs::create_directories(folder_); }
    ~RecordingTest() override { fs::remove_all(folder_); }

    static Bytes bytes_of(const fs::path& path) {
        std::ifstream file(path, std::ios::binary);
        return {std::istreambuf_iterator<char>(file), {}};
    }
    std::size_t files() const {
        return std::size_t(std::distance(fs::directory_iterator(folder_), {}));
    }

    fs::path folder_ =
        fs::temp_directory_path() / ("warpscope-recording-" + std::to_string(::getpid()));
};

void make_opaque(Bytes& rgba) {
    for (std::size_t i = 3; i < rgba.size(); i += 4) rgba[i] = 255;
}

TEST_F(RecordingTest, EveryFrameIsDecodedAsItWasAdded) {
    std::vector<Bytes> frames(4, numbered_pixels(13, 7));
    // A rectangle of 3 x 2 pixels at (4, 5) changes, then nothing, then the last pixel.
    for (const int pixel : {5 * 13 + 4, 5 * 13 + 6, 6 * 13 + 5})
        for (std::size_t i = 1; i < 4; ++i) frames[i][std::size_t(pixel) * 4] ^= 0x55;
    frames[2][3] ^= 1;  // an alpha, which means nothing
    frames[3][(13 * 7 - 1) * 4 + 2] ^= 1;
    Recording recording(folder_ / "r.png", {{"Software", "Warpscope"}, {"frame", "1"}});
    for (const Bytes& frame : frames)
        recording.add(13, 7, frame, Rows::top_first, milliseconds(40));
    for (Bytes& frame : frames) make_opaque(frame);
    EXPECT_FALSE(fs::exists(folder_ / "r.png"));
    recording.finish();
    ASSERT_EQ(files(), 1);

    const Bytes file = bytes_of(folder_ / "r.png");
    const Animation animation = read_animation(file);
    EXPECT_EQ(animation.announced, 4);
    ASSERT_EQ(animation.pictures.size(), 4);
    for (std::size_t i = 0; i < 4; ++i) {
        EXPECT_EQ(animation.pictures[i].rgba, frames[i]) << i;
        EXPECT_EQ(animation.frames[i].milliseconds, 40);
    }
    const Frame& second = animation.frames[1];
    EXPECT_EQ((std::array{second.x, second.y, second.width, second.height}),
              (std::array{4, 5, 3, 2}));
    EXPECT_EQ(animation.frames[2].width * animation.frames[2].height, 1) << "nothing has changed";
    EXPECT_EQ(animation.frames[3].x, 12);
    // A viewer that knows no animations shows the first frame.
    EXPECT_EQ(decode_png(file).rgba, frames[0]);
    EXPECT_EQ(read_png_metadata(file), (Metadata{{"Software", "Warpscope"}, {"frame", "1"}}));
}

TEST_F(RecordingTest, LeavesNothingWithoutAnEnd) {
    {
        Recording recording(folder_ / "r.png", {});
        EXPECT_THROW(recording.finish(), Error) << "it has no frame";
        recording.add(2, 2, numbered_pixels(2, 2), Rows::top_first, milliseconds(1));
        EXPECT_THROW(recording.add(3, 2, numbered_pixels(3, 2), Rows::top_first, milliseconds(1)),
                     Error);
    }
    EXPECT_EQ(files(), 0);
    EXPECT_THROW(Recording(folder_ / "r.gif", {}), Error);
    EXPECT_THROW(Recording(folder_ / "missing" / "r.png", {}), Error);
}

/// A program that stands in for ffmpeg: it keeps its arguments and its input.
void make_ffmpeg(const fs::path& folder, const char* ending) {
    std::ofstream(folder / "ffmpeg") << "#!/bin/sh\nfor last; do :; done\n"
                                        "echo \"$@\" > \"$last\"\ncat >> \"$last\"\n"
                                     << ending;
    fs::permissions(folder / "ffmpeg", fs::perms::owner_all);
}

TEST_F(RecordingTest, AnMp4IsMadeByFfmpeg) {
    const std::string path = std::getenv("PATH");
    const fs::path programs = folder_ / "programs";
    fs::create_directories(programs);
    make_ffmpeg(programs, "");
    ::setenv("PATH", (programs.string() + ":" + path).c_str(), 1);
    Recording recording(folder_ / "r.mp4", {{"command", "warpscope --headless"}});
    const Bytes frame = numbered_pixels(4, 2);
    for (int i = 0; i < 3; ++i) recording.add(4, 2, frame, Rows::top_first, milliseconds(1));
    recording.finish();
    const Bytes file = bytes_of(folder_ / "r.mp4");
    const std::string words(file.begin(), std::ranges::find(file, '\n'));
    EXPECT_NE(words.find("-pix_fmt rgb0 -s 4x2 -r 30"), std::string::npos) << words;
    EXPECT_NE(words.find("comment=warpscope --headless"), std::string::npos) << words;
    Bytes input;
    for (int i = 0; i < 3; ++i) input.insert(input.end(), frame.begin(), frame.end());
    EXPECT_EQ(Bytes(file.end() - long(input.size()), file.end()), input);

    // At 30 frames a second, 100 ms are three frames and 50 ms the next one and a half.
    Recording slow(folder_ / "s.mp4", {});
    for (const int shown : {100, 50, 50})
        slow.add(4, 2, frame, Rows::bottom_first, milliseconds(shown));
    slow.finish();
    const Bytes repeated = bytes_of(folder_ / "s.mp4");
    const std::string turned(repeated.begin(), std::ranges::find(repeated, '\n'));
    EXPECT_NE(turned.find("-vf vflip,pad="), std::string::npos) << turned;
    EXPECT_EQ(words.find("vflip"), std::string::npos) << words;
    EXPECT_EQ(std::size_t(repeated.end() - std::ranges::find(repeated, '\n') - 1),
              (3 + 2 + 1) * frame.size());

    std::ofstream(programs / "ffmpeg") << "#!/bin/sh\nexit 3\n";
    Recording early(folder_ / "e.mp4", {});
    EXPECT_THROW(
        {
            for (;;) early.add(4, 2, frame, Rows::top_first, milliseconds(1));
        },
        Error);

    make_ffmpeg(programs, "exit 3\n");
    Recording fails(folder_ / "f.mp4", {});
    fails.add(4, 2, frame, Rows::top_first, milliseconds(1));
    EXPECT_THROW(fails.finish(), Error);
    EXPECT_FALSE(fs::exists(folder_ / "f.mp4"));

    ::setenv("PATH", (folder_ / "empty").c_str(), 1);
    Recording missing(folder_ / "m.mp4", {});
    EXPECT_THROW(missing.add(4, 2, frame, Rows::top_first, milliseconds(1)), Error);
    ::setenv("PATH", path.c_str(), 1);
}

TEST_F(RecordingTest, ALiveRecordingCountsTheFramesThatItDrops) {
    const std::string path = std::getenv("PATH");
    // A program that reads nothing until the file "go" is there.
    std::ofstream(folder_ / "ffmpeg") << "#!/bin/sh\nuntil [ -e " << (folder_ / "go").string()
                                      << " ]; do :; done\nfor last; do :; done\ncat > \"$last\"\n";
    fs::permissions(folder_ / "ffmpeg", fs::perms::owner_all);
    ::setenv("PATH", (folder_.string() + ":" + path).c_str(), 1);
    constexpr int width = 1024, height = 512;  // more than a socket holds
    LiveRecording recording(folder_ / "live.mp4", {}, width, height);
    std::size_t added = 0;
    while (recording.dropped() < 2)
        if (recording.is_due()) {
            recording.add(numbered_pixels(width, height));
            ++added;
        }
    // Eight wait, and one is on show. On a busy machine the thread has not begun with another one.
    EXPECT_TRUE(added == 9 || added == 10) << added;
    std::ofstream(folder_ / "go") << "now";
    EXPECT_EQ(recording.finish(), added);
    ::setenv("PATH", path.c_str(), 1);
}

TEST_F(RecordingTest, ALiveRecordingKeepsTheFramesInTheirOrderAndTurnsThemUpright) {
    constexpr std::size_t row = 5 * 4;
    LiveRecording recording(folder_ / "live.png", {}, 5, 3);
    std::vector<Bytes> wanted;
    for (std::uint8_t i = 0; i < 20; ++i) {
        Bytes frame = recording.room();
        ASSERT_EQ(frame.size(), 3 * row);
        frame = numbered_pixels(5, 3);
        frame[7] = i;  // an alpha
        frame[8] = i;
        wanted.emplace_back();
        for (const std::size_t from : {2 * row, row, std::size_t(0)})
            wanted.back().insert(wanted.back().end(), frame.begin() + long(from),
                                 frame.begin() + long(from + row));
        for (std::size_t at = 3; at < 3 * row; at += 4) wanted.back()[at] = 255;
        recording.add(std::move(frame));
    }
    EXPECT_EQ(recording.finish(), 20);
    const Animation animation = read_animation(bytes_of(folder_ / "live.png"));
    ASSERT_EQ(animation.pictures.size(), 20);
    for (std::size_t i = 0; i < 20; ++i) EXPECT_EQ(animation.pictures[i].rgba, wanted[i]) << i;
    {
        LiveRecording discarded(folder_ / "d.png", {}, 5, 3);
        discarded.add(numbered_pixels(5, 3));
    }
    EXPECT_EQ(files(), 1);
}

}  // namespace
}  // namespace warpscope::gl
