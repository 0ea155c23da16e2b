#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "compute/helper/processes.h"
#include "ui/editor/editor_fixture.h"

namespace warpscope::ui {
namespace {

namespace fs = std::filesystem;

/// The pane over the ripple, where a compiler is missing until a script has made a file.
class EditorDownloadTest : public EditorTypingTest {
  protected:
    EditorDownloadTest() { fs::create_directories(folder_); }

    void show_with(const std::string& lines) {
        std::string script;
        if (!lines.empty()) {
            script = (folder_ / "fetch").string();
            std::ofstream(script) << "#!/bin/sh\ncd " << folder_ << "\n" << lines;
            fs::permissions(script, fs::perms::owner_all);
        }
        Stage::Start start;
        start.device_wish = "emulator";
        start.experiment = "ripple";
        start.assignments = {{"size", "64"}};
        start.clock = [] { return std::chrono::steady_clock::time_point(); };
        start.try_edits = [](const auto&, const auto&) { return experiments::EditResult(); };
        start.no_compiler = [file = folder_ / "libnvrtc.so.13"] {
            return std::string(fs::exists(file) ? "" : "No compiler is installed.");
        };
        view_.reset();
        stage_ = std::make_unique<Stage>(start);
        stage_->pause(true);
        ViewOptions options;
        options.editor = true;
        view_ = std::make_unique<WindowView>(*stage_, options, 1.F, 1.F, script);
        gui_.fonts_changed();
        frames(4);
    }
    bool there(const std::string& id) { return view_->widgets().find(id) != nullptr; }
    template <class Condition>
    bool draws_until(Condition holds) {
        return tests::soon([&] {
            frames();
            return holds();
        });
    }
};

TEST_F(EditorDownloadTest, AfterTheDownloadTheTextCanBeEditedAtOnce) {
    show_with("echo >libnvrtc.so.13\n");
    EXPECT_EQ(value("editor.state"), "read-only");
    EXPECT_EQ(value("editor.read_only"),
              "NVRTC, the compiler of edits, is not installed. Download it here, or install the "
              "CUDA Toolkit and start again.");
    click("editor.download");
    ASSERT_TRUE(draws_until(
        [&] { return value("message") == "NVRTC was downloaded: kernels can be edited now."; }));
    frames(2);
    EXPECT_FALSE(there("editor.read_only"));
    EXPECT_FALSE(there("editor.download"));
    EXPECT_EQ(value("editor.state"), "built-in");
    click("editor.barrier." + std::to_string(barrier_line()));
    EXPECT_TRUE(document().edited());
}

TEST_F(EditorDownloadTest, AFailureIsALineInThePaneAndTheButtonStays) {
    show_with("echo 'fetch: the disk is full' >&2; exit 1\n");
    click("editor.download");
    ASSERT_TRUE(draws_until([&] { return there("editor.download.error"); }));
    EXPECT_EQ(value("editor.download.error"), "NVRTC was not downloaded: the disk is full.");
    EXPECT_EQ(value("message"), "NVRTC was not downloaded: the disk is full.");
    EXPECT_TRUE(there("editor.download"));
    EXPECT_EQ(value("editor.state"), "read-only");
}

TEST_F(EditorDownloadTest, EscAndTheButtonCancelIt) {
    show_with("touch begun; sleep 600\n");
    for (const bool with_key : {true, false}) {
        fs::remove(folder_ / "begun");
        click("editor.download");
        ASSERT_TRUE(draws_until([&] { return fs::exists(folder_ / "begun"); }));
        EXPECT_FALSE(there("editor.download"));
        EXPECT_TRUE(value("editor.downloading").starts_with("Downloading NVRTC · "));
        if (with_key)
            view_->press(GLFW_KEY_ESCAPE, 0);
        else
            click("editor.download.cancel");
        EXPECT_TRUE(draws_until([&] { return there("editor.download"); }));
        EXPECT_FALSE(there("editor.download.error"));
    }
}

TEST_F(EditorDownloadTest, WithoutAScriptOrPythonThereIsNoButton) {
    show_with("");
    EXPECT_EQ(value("editor.read_only"), "No compiler is installed.");
    EXPECT_FALSE(there("editor.download"));
    show_with("exit 0\n");
    EXPECT_TRUE(there("editor.download"));
    const std::string path = std::getenv("PATH");
    ::setenv("PATH", folder_.c_str(), 1);
    frames(2);
    ::setenv("PATH", path.c_str(), 1);
    EXPECT_FALSE(there("editor.download"));
    EXPECT_EQ(value("editor.read_only"), "No compiler is installed.");
    EXPECT_EQ(value("editor.download.needs"),
              "To download NVRTC here, install the packages python3 and python3-pip.");
}

}  // namespace
}  // namespace warpscope::ui
