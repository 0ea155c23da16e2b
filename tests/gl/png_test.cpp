#include "gl/png.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <functional>
#include <iterator>

#include "gl/error.h"
#include "pixels.h"
#include "support/read_png.h"

namespace warpscope::gl {
namespace {

namespace fs = std::filesystem;

/// Each test has an empty folder of its own.
class PngTest : public testing::Test {
  protected:
    PngTest() {
        const auto* test = testing::UnitTest::GetInstance()->current_test_info();
        folder_ = fs::temp_directory_path() /
                  ("warpscope-" + std::string(test->name()) + "-" + std::to_string(getpid()));
        fs::create_directories(folder_);
    }
    ~PngTest() override { fs::remove_all(folder_); }

    std::vector<fs::path> files() const {
        return {fs::directory_iterator(folder_), fs::directory_iterator()};
    }
    static std::vector<std::uint8_t> bytes_of(const fs::path& path) {
        std::ifstream file(path, std::ios::binary);
        return {std::istreambuf_iterator<char>(file), {}};
    }
    static std::string error_of(const std::function<void()>& action) {
        try {
            action();
        } catch (const Error& error) {
            return error.what();
        }
        return "";
    }

    fs::path folder_;
};

TEST_F(PngTest, ReadsBackPixelsAndMetadataInOrder) {
    const Metadata metadata{{"ripple.sync", "off"},
                            {"Title",
                             "Wellen – \xc3\xbc"
                             "ber 16×16 \xe6\xb3\xa2"},
                            {"Empty", ""},
                            {"Lines", "one\ntwo"}};
    std::vector<std::uint8_t> rgba = numbered_pixels(17, 3);
    rgba[3] = 0;  // a transparent pixel keeps its colour
    rgba[7] = 128;
    write_png(folder_ / "a.png", 17, 3, rgba, metadata);

    const Image image = tests::read_png(folder_ / "a.png");
    EXPECT_EQ(image.width, 17);
    EXPECT_EQ(image.height, 3);
    EXPECT_EQ(image.rgba, rgba);
    EXPECT_EQ(image.metadata, metadata);
    EXPECT_EQ(files().size(), 1U);
}

TEST_F(PngTest, StoresAsciiInTextChunksAndOthersInInternationalTextChunks) {
    const auto chunks_with = [&](const std::string& text) {
        write_png(folder_ / "a.png", 1, 1, numbered_pixels(1, 1), {{"Key", text}});
        const auto bytes = bytes_of(folder_ / "a.png");
        const std::string all(bytes.begin(), bytes.end());
        return std::pair{all.find("tEXtKey") != std::string::npos,
                         all.find("iTXtKey") != std::string::npos};
    };
    EXPECT_EQ(chunks_with("plain"), (std::pair{true, false}));
    EXPECT_EQ(chunks_with("\xc2\xb5s"), (std::pair{false, true}));
}

TEST_F(PngTest, RefusesInvalidMetadata) {
    const auto rgba = numbered_pixels(1, 1);
    const auto write = [&](const Metadata& metadata) {
        return error_of([&] { write_png(folder_ / "a.png", 1, 1, rgba, metadata); });
    };
    EXPECT_NE(write({{"", "x"}}).find("keyword"), std::string::npos);
    EXPECT_NE(write({{std::string(80, 'k'), "x"}}).find("keyword"), std::string::npos);
    EXPECT_NE(write({{"Key", std::string("a\0b", 3)}}).find("zero byte"), std::string::npos);
    EXPECT_EQ(write({{std::string(79, 'k'), "x"}}), "");
}

TEST_F(PngTest, RefusesPixelsThatDoNotMatchTheSize) {
    const auto rgba = numbered_pixels(4, 4);
    EXPECT_NE(error_of([&] { write_png(folder_ / "a.png", 4, 5, rgba); }), "");
    EXPECT_NE(error_of([&] { write_png(folder_ / "a.png", 0, 0, {}); }), "");
    EXPECT_TRUE(files().empty());
}

TEST_F(PngTest, ReplacesAnExistingFile) {
    write_png(folder_ / "a.png", 64, 64, numbered_pixels(64, 64));
    write_png(folder_ / "a.png", 2, 1, numbered_pixels(2, 1));
    EXPECT_EQ(tests::read_png(folder_ / "a.png").rgba, numbered_pixels(2, 1));
    EXPECT_EQ(files().size(), 1U);
}

TEST_F(PngTest, AnUnwritablePathIsNamedInTheErrorAndLeavesNoFile) {
    const auto rgba = numbered_pixels(1, 1);
    const fs::path missing = folder_ / "no such folder" / "a.png";
    const std::string error = error_of([&] { write_png(missing, 1, 1, rgba); });
    EXPECT_NE(error.find(missing.string()), std::string::npos) << error;
    EXPECT_NE(error.find("No such file or directory"), std::string::npos) << error;

    fs::create_directory(folder_ / "folder.png");
    EXPECT_NE(error_of([&] { write_png(folder_ / "folder.png", 1, 1, rgba); }), "");
    EXPECT_NE(error_of([&] { write_png("/dev/null", 1, 1, rgba); }), "");
    EXPECT_TRUE(fs::is_character_file("/dev/null"));
    EXPECT_EQ(files().size(), 1U);
}

TEST_F(PngTest, AFullDiskLeavesNoFile) {
    // Limits the file size, because /dev/full can't be the target.
    const auto rgba = numbered_pixels(256, 256);
    write_png(folder_ / "whole.png", 256, 256, rgba);
    rlimit old{};
    getrlimit(RLIMIT_FSIZE, &old);
    const rlimit small{100, old.rlim_max};
    const auto handler = std::signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &small);
    const std::string error = error_of([&] { write_png(folder_ / "a.png", 256, 256, rgba); });
    setrlimit(RLIMIT_FSIZE, &old);
    std::signal(SIGXFSZ, handler);
    EXPECT_NE(error.find("File too large"), std::string::npos) << error;
    EXPECT_EQ(files(), std::vector{folder_ / "whole.png"});
}

TEST_F(PngTest, ATruncatedOrDamagedFileThrows) {
    write_png(folder_ / "a.png", 5, 4, numbered_pixels(5, 4), {{"Key", "value"}});
    const auto whole = bytes_of(folder_ / "a.png");
    EXPECT_EQ(decode_png(whole).rgba, numbered_pixels(5, 4));
    for (std::size_t length = 0; length < whole.size(); ++length) {
        EXPECT_THROW(decode_png(std::span(whole).first(length)), Error) << length;
    }
    const std::string all(whole.begin(), whole.end());
    auto damaged = whole;
    damaged[all.find("IDAT") + 6] ^= 1;
    EXPECT_THROW(decode_png(damaged), Error);
    damaged = whole;
    damaged[0] ^= 1;
    EXPECT_THROW(decode_png(damaged), Error);
}

TEST_F(PngTest, MetadataNeedNoPixels) {
    const Metadata metadata{{"Key", "value"}, {"Title", "\xc3\xbc"}};
    write_png(folder_ / "a.png", 5, 4, numbered_pixels(5, 4), metadata);
    const auto whole = bytes_of(folder_ / "a.png");
    EXPECT_EQ(read_png_metadata(whole), metadata);
    const std::string all(whole.begin(), whole.end());
    const auto before_pixels = std::span(whole).first(all.find("IDAT") + 4);
    EXPECT_EQ(read_png_metadata(before_pixels), metadata);
    EXPECT_THROW(read_png_metadata(before_pixels.first(all.find("Key"))), Error);
}

TEST_F(PngTest, AChunkThatAnnouncesGigabytesIsRefused) {
    write_png(folder_ / "a.png", 5, 4, numbered_pixels(5, 4), {{"Key", "value"}});
    auto bytes = bytes_of(folder_ / "a.png");
    const std::string all(bytes.begin(), bytes.end());
    bytes[all.find("tEXt") - 4] = 0x60;  // the first byte of the length: 1.5 GiB
    const std::string error = error_of([&] { read_png_metadata(bytes); });
    // Newer libraries skip a text that is too large, and so come to the end of the file.
    EXPECT_TRUE(error.find("chunk data is too large") != std::string::npos ||
                error.find("the file ends early") != std::string::npos)
        << error;
}

TEST_F(PngTest, AnUnreadableFileIsNamedInTheError) {
    const fs::path missing = folder_ / "none.png";
    EXPECT_NE(error_of([&] { tests::read_png(missing); }).find(missing.string()),
              std::string::npos);
    std::ofstream(folder_ / "text.png") << "no picture";
    EXPECT_NE(error_of([&] { tests::read_png(folder_ / "text.png"); }).find("text.png"),
              std::string::npos);
}

// A 2x1 grey PNG with one bit per pixel, white then black, made with Python's zlib.
TEST_F(PngTest, ConvertsOtherPngFormatsToRgba) {
    const std::vector<std::uint8_t> grey{
        0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0x00, 0x00, 0x00, 0x0d, 0x49, 0x48,
        0x44, 0x52, 0x00, 0x00, 0x00, 0x02, 0x00, 0x00, 0x00, 0x01, 0x01, 0x00, 0x00, 0x00,
        0x00, 0xdc, 0x59, 0x42, 0x27, 0x00, 0x00, 0x00, 0x0a, 0x49, 0x44, 0x41, 0x54, 0x78,
        0x9c, 0x63, 0x68, 0x00, 0x00, 0x00, 0x82, 0x00, 0x81, 0x77, 0xcd, 0x72, 0xb6, 0x00,
        0x00, 0x00, 0x00, 0x49, 0x45, 0x4e, 0x44, 0xae, 0x42, 0x60, 0x82};
    const Image image = decode_png(grey);
    EXPECT_EQ(image.rgba, (std::vector<std::uint8_t>{255, 255, 255, 255, 0, 0, 0, 255}));
}

}  // namespace
}  // namespace warpscope::gl
