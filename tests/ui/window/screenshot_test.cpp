#include "ui/window/screenshot.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>

#include "compute/pick_device.h"
#include "gl/context.h"
#include "gl/error.h"
#include "gl/png.h"
#include "support/read_png.h"
#include "ui/fake_experiment.h"
#include "ui/window/layout.h"

namespace warpscope::ui {
namespace {

class ScreenshotTest : public testing::Test {
  protected:
    ScreenshotTest() { std::filesystem::create_directories(folder_); }
    ~ScreenshotTest() override { std::filesystem::remove_all(folder_); }

    void render() {
        stage_.step_once();
        stage_.advance({640, 480});
    }
    gl::Image save(experiments::Size size, bool view_only) {
        const auto file = folder_ / "shot.png";
        save_screenshot(stage_, {size, view_only}, file);
        return tests::read_png(file);
    }
    static std::array<int, 4> at(const gl::Image& image, int x, int y) {
        const auto* p = &image.rgba[std::size_t(y * image.width + x) * 4];
        return {p[0], p[1], p[2], p[3]};
    }

    std::filesystem::path folder_ =
        std::filesystem::temp_directory_path() / ("warpscope-shot-" + std::to_string(::getpid()));
    gl::OffscreenContext context_;
    Stage stage_{fake_live_experiment()};
};

TEST_F(ScreenshotTest, ThePictureAloneHasTheExactPixels) {
    render();
    const gl::Image image = save({1280, 720}, true);
    EXPECT_EQ(image.width, 64);
    EXPECT_EQ(image.height, 48);
    EXPECT_EQ(image.rgba, stage_.pixels()->read_pixels());
    const auto key = [](const auto& item) { return item.first == "command"; };
    const auto command = std::find_if(image.metadata.begin(), image.metadata.end(), key);
    ASSERT_NE(command, image.metadata.end());
    EXPECT_NE(command->second.find("--frames 1 --size 1280x720 --view-only"), std::string::npos);
}

TEST_F(ScreenshotTest, TheWindowShowsThePictureAndThePanels) {
    render();
    const gl::Image image = save({1280, 720}, false);
    EXPECT_EQ(image.width, 1280);
    EXPECT_EQ(image.height, 720);
    const Layout layout = lay_out(1280, 720, 1, ViewOptions());
    const int x = int(layout.canvas.x + layout.canvas.width / 2);
    const int y = int(layout.canvas.y + layout.canvas.height / 2);
    const auto centre = at(image, x, y);
    EXPECT_EQ(centre[1], 64);       // the fake's level
    EXPECT_NEAR(centre[2], 32, 1);  // its blue is the column
    EXPECT_EQ(centre[3], 255);
    // Each panel holds more than its background.
    for (const Box& box : {layout.top, layout.controls, layout.results, layout.dock}) {
        int bright = 0;
        for (int py = int(box.y); py < int(box.y + box.height); ++py)
            for (int px = int(box.x); px < int(box.x + box.width); ++px)
                bright += at(image, px, py)[1] > 140;
        EXPECT_GT(bright, 100) << box.x << " " << box.y;
    }
}

TEST_F(ScreenshotTest, ATreeIsDrawnInTheGivenSize) {
    const experiments::Assignment tree{"pixels", "off"};
    ASSERT_TRUE(stage_.assign({&tree, 1}));
    stage_.advance({640, 480});
    const gl::Image image = save({900, 500}, true);
    EXPECT_EQ(image.width, 900);
    EXPECT_EQ(image.height, 500);
    // The element whose value is not the sum of what it read is outlined in red.
    const auto is_red = [&](int x, int y) {
        const auto p = at(image, x, y);
        return p[0] > 220 && p[1] > 100 && p[1] < 160 && p[2] > 100 && p[2] < 160;
    };
    int outlined = 0;
    for (int y = 0; y < image.height; ++y)
        for (int x = 0; x < image.width; ++x) outlined += is_red(x, y);
    EXPECT_GT(outlined, 60);
}

TEST_F(ScreenshotTest, AnySizeCanBeDrawn) {
    render();
    for (const experiments::Size size : {experiments::Size{1, 1}, {320, 200}, {2000, 100}}) {
        const gl::Image image = save(size, false);
        EXPECT_EQ(image.width, size.width);
        EXPECT_EQ(image.height, size.height);
    }
}

TEST_F(ScreenshotTest, AnUnwritablePathIsAnErrorAndLeavesNothing) {
    render();
    const auto file = folder_ / "no" / "such" / "folder.png";
    EXPECT_THROW(save_screenshot(stage_, {{64, 64}, true}, file), gl::Error);
    EXPECT_TRUE(std::filesystem::is_empty(folder_));
}

TEST_F(ScreenshotTest, AnOpenMicroscopeIsInThePictureAndInTheCommand) {
    const experiments::Entry& ripple = experiments::find_experiment("ripple");
    experiments::Running running{compute::pick_device("emulator"), nullptr};
    running.experiment = ripple.make(*running.device);
    const experiments::Assignment size{"size", "64"};
    running.experiment->set({&size, 1});
    const auto file = folder_ / "microscope.png";
    const Frames frames = [](const auto& render) -> experiments::Metadata {
        render();
        return {{"partial", "stopped after frame 0 of 9"}};
    };
    const PixelPath path = save_offscreen(
        ripple, running, frames, {{1280, 720}, false, MicroscopePlace{{1, 2, 0}, 30}}, file);
    EXPECT_EQ(path.path, "mapped");
    EXPECT_EQ(running.experiment->frame(), 0U);
    const gl::Image image = tests::read_png(file);
    EXPECT_EQ(image.metadata.back().first, "partial");
    EXPECT_EQ(image.metadata.back().second, "stopped after frame 0 of 9");
    for (const auto& [keyword, text] : image.metadata) {
        if (keyword != "command") continue;
        EXPECT_NE(text.find(" --microscope 1,2@30"), std::string::npos);
    }
    // The first warp's chip among the warps, in its colour.
    const Layout layout = lay_out(1280, 720, 1, ViewOptions(), true);
    int chip = 0;
    for (int y = int(layout.warps.y); y < int(layout.warps.y + layout.warps.height); ++y)
        for (int x = int(layout.warps.x); x < int(layout.warps.x) + 60; ++x) {
            const auto p = at(image, x, y);
            chip += p[0] == 107 && p[1] == 169 && p[2] == 245;
        }
    EXPECT_GT(chip, 200);
}

TEST_F(ScreenshotTest, ExistingFilesAreNotOverwritten) {
    std::tm time{};
    time.tm_year = 126;
    time.tm_mon = 6;
    time.tm_mday = 9;
    time.tm_hour = 8;
    time.tm_min = 7;
    time.tm_sec = 5;
    for (const char* name : {"warpscope-20260709-080705.png", "warpscope-20260709-080705-2.png",
                             "warpscope-20260709-080705-3.png"}) {
        const auto path = screenshot_path(folder_, time);
        EXPECT_EQ(path, folder_ / name);
        std::ofstream(path) << "taken";
    }
}

TEST_F(ScreenshotTest, AreSavedInTheDesktopsPicturesFolder) {
    ::unsetenv("XDG_PICTURES_DIR");
    ::setenv("HOME", folder_.c_str(), 1);
    ::setenv("XDG_CONFIG_HOME", (folder_ / "config").c_str(), 1);
    EXPECT_EQ(screenshot_folder(), std::filesystem::current_path());
    std::filesystem::create_directories(folder_ / "Bilder");
    std::filesystem::create_directories(folder_ / "config");
    std::ofstream(folder_ / "config/user-dirs.dirs") << "XDG_PICTURES_DIR=\"$HOME/Bilder\"\n";
    EXPECT_EQ(screenshot_folder(), folder_ / "Bilder");
    ::setenv("XDG_PICTURES_DIR", folder_.c_str(), 1);
    EXPECT_EQ(screenshot_folder(), folder_);
    ::unsetenv("XDG_PICTURES_DIR");
}

}  // namespace
}  // namespace warpscope::ui
