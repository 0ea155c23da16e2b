#include "ui/commands/clipboard.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

namespace warpscope::ui {
namespace {

namespace fs = std::filesystem;

/// A folder of programs that is the PATH, and a desktop that has both kinds of display.
class PictureClipboard : public testing::Test {
  protected:
    PictureClipboard() {
        fs::create_directories(folder_);
        for (const char* name : {"PATH", "DISPLAY", "WAYLAND_DISPLAY"})
            if (const char* value = std::getenv(name)) before_.emplace_back(name, value);
        ::setenv("PATH", folder_.c_str(), 1);
        ::setenv("DISPLAY", ":77", 1);
        ::setenv("WAYLAND_DISPLAY", "wayland-7", 1);
    }
    ~PictureClipboard() override {
        for (const char* name : {"PATH", "DISPLAY", "WAYLAND_DISPLAY"}) ::unsetenv(name);
        for (const auto& [name, value] : before_) ::setenv(name.c_str(), value.c_str(), 1);
        fs::remove_all(folder_);
    }

    /// Keeps its words and its input in the file NAME.said.
    void make_program(const std::string& name, const std::string& ending = "") {
        const fs::path file = folder_ / name;
        std::ofstream(file) << "#!/bin/sh\necho \"$@\" > " << file.string() << ".said\n/bin/cat >> "
                            << file.string() << ".said\n"
                            << ending;
        fs::permissions(file, fs::perms::owner_all);
    }
    std::string said(const std::string& name) const {
        std::ifstream file(folder_ / (name + ".said"));
        return {std::istreambuf_iterator<char>(file), {}};
    }
    static std::string complaint() {
        try {
            copy_png(png);
        } catch (const std::runtime_error& error) {
            return error.what();
        }
        return "";
    }

    static inline const std::vector<std::uint8_t> png{'a', 'b', 0, 'c'};
    const std::string bytes_{"ab\0c", 4};
    fs::path folder_ =
        fs::temp_directory_path() / ("warpscope-clipboard-" + std::to_string(::getpid()));
    std::vector<std::pair<std::string, std::string>> before_;
};

TEST_F(PictureClipboard, TheProgramOfTheDesktopGetsThePicture) {
    make_program("xclip");
    make_program("wl-copy");
    copy_png(png);
    EXPECT_EQ(said("wl-copy"), "--type image/png\n" + bytes_);
    EXPECT_EQ(said("xclip"), "");
    ::unsetenv("WAYLAND_DISPLAY");
    copy_png(png);
    EXPECT_EQ(said("xclip"), "-selection clipboard -target image/png\n" + bytes_);
}

TEST_F(PictureClipboard, AMissingProgramIsNamedByItsPackage) {
    EXPECT_EQ(complaint(), "install the package wl-clipboard or xclip, which copies pictures");
    ::unsetenv("WAYLAND_DISPLAY");
    EXPECT_EQ(complaint(), "install the package xclip, which copies pictures");
    ::unsetenv("DISPLAY");
    EXPECT_EQ(complaint(), "there is no desktop with a clipboard");
    ::setenv("DISPLAY", ":77", 1);
    make_program("xclip", "exit 1\n");
    EXPECT_EQ(complaint(), "xclip has failed");
}

}  // namespace
}  // namespace warpscope::ui
