#include "launches/files/capture_archive.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "launches/arrays/expression.h"
#include "launches/files/program_capture.h"

namespace warpscope::launches {
namespace {

namespace fs = std::filesystem;

std::string read(const fs::path& file) {
    std::ifstream from(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(from), {}};
}

void write(const fs::path& file, const std::string& text) {
    fs::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << text;
}

class CaptureArchive : public testing::Test {
  protected:
    CaptureArchive() {
        write(folder_ / "program.json",
              R"({"command": "./app", "launches": [{"number": 3, "file": "3.launch.json", "kernel":
                 "k", "grid": [1, 2, 3], "block": [4, 5, 6], "ms": 0.5, "findings": 1}]})");
        write(folder_ / "memory/1.bin", std::string(1000, 'm') + std::string("\0\1", 2));
        write(folder_ / "sources/12/src/a.cu", "a source");
        setenv("XDG_CACHE_HOME", (place_ / "cache").c_str(), 1);
    }
    ~CaptureArchive() override {
        if (before_.empty())
            unsetenv("XDG_CACHE_HOME");
        else
            setenv("XDG_CACHE_HOME", before_.c_str(), 1);
        fs::remove_all(place_);
    }

    const std::string before_ = std::getenv("XDG_CACHE_HOME") ? std::getenv("XDG_CACHE_HOME") : "";
    const fs::path place_ =
        fs::path(testing::TempDir()) / ("captures" + std::to_string(::getpid()));
    const fs::path folder_ = place_ / "folder", archive_ = place_ / "a.wslaunch";
};

TEST_F(CaptureArchive, HasTheFilesOfItsFolder) {
    write_archive(folder_, archive_);
    const fs::path folder = unpacked(archive_);
    EXPECT_EQ(read(folder / "memory/1.bin"), read(folder_ / "memory/1.bin"));
    EXPECT_EQ(read(folder / "program.json"), read(folder_ / "program.json"));
    EXPECT_EQ(read(folder / "sources/12/src/a.cu"), "a source");
    EXPECT_EQ(launches::read_capture(folder)->launches.at(0).grid, (emulator::Dim3{1, 2, 3}));
    EXPECT_EQ(unpacked(archive_), folder);  // it is there
    write(folder_ / "memory/1.bin", "another content");
    write_archive(folder_, archive_);
    EXPECT_EQ(read(unpacked(archive_) / "memory/1.bin"), "another content");
}

TEST_F(CaptureArchive, RefusesOtherFiles) {
    write(archive_, "no archive");
    EXPECT_THROW(unpacked(archive_), LaunchError);
    EXPECT_THROW(unpacked(place_ / "missing.wslaunch"), LaunchError);
    for (const char* name : {"elsewhere/2.bin", "memory/2/3.bin", "sources/a.cu"}) {
        write(folder_ / name, "a capture has no such file");
        write_archive(folder_, archive_);
        EXPECT_THROW(unpacked(archive_), LaunchError) << name;
        fs::remove(folder_ / name);
    }
    fs::remove_all(folder_);
    write(folder_ / "memory/1.bin", "no list of launches");
    write_archive(folder_, archive_);
    EXPECT_THROW(unpacked(archive_), LaunchError);
    EXPECT_FALSE(fs::exists(place_ / "cache/warpscope/captures"));
}

TEST_F(CaptureArchive, OfWhichAByteIsDamagedIsRefusedOrWhole) {
    write_archive(folder_, archive_);
    const std::string whole = read(archive_);
    for (std::size_t at = 0; at < whole.size(); at += 7) {
        std::string damaged = whole;
        damaged[at] = char(damaged[at] ^ 0x55);
        write(archive_, damaged);
        fs::remove_all(place_ / "cache");
        try {
            const fs::path folder = unpacked(archive_);
            for (const auto& entry : fs::recursive_directory_iterator(folder / "memory"))
                EXPECT_EQ(read(entry.path()), read(folder_ / "memory/1.bin")) << at;
        } catch (const LaunchError&) {
        }
        if (!fs::exists(place_ / "cache")) continue;
        for (const auto& entry : fs::directory_iterator(place_ / "cache/warpscope/captures"))
            EXPECT_TRUE(launches::read_capture(entry.path())) << "half a folder stays";
    }
}

}  // namespace
}  // namespace warpscope::launches
