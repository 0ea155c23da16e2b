#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>

#include "gl/png.h"
#include "ui/view_fixture.h"
#include "ui/window/screenshot.h"

namespace warpscope::ui {
namespace {

/// Files that are dropped on the window or chosen in the popup.
class OpenFilesTest : public ViewFixture {
  protected:
    OpenFilesTest() {
        std::filesystem::create_directories(folder_);
        show("ripple", {{"size", "64"}});
    }
    ~OpenFilesTest() override { std::filesystem::remove_all(folder_); }
    std::string path(const std::string& name) const { return (folder_ / name).string(); }
    std::string put(const std::string& name, const std::string& content) const {
        std::ofstream(path(name)) << content;
        return path(name);
    }
    /// Frames until the files have been read and shown.
    void read() {
        frames();
        while (view_->moves()) frames();
        settle();
    }
    void drop(const std::string& file) {
        view_->open_file(file);
        read();
    }
    /// Makes the window anew, with a compiler that is never waited for.
    void begin_with_a_compiler() {
        Stage::Start start;
        start.device_wish = "emulator";
        start.experiment = "ripple";
        start.assignments = {{"size", "64"}};
        start.clock = [] { return std::chrono::steady_clock::time_point(); };  // no edit is tried
        start.try_edits = [](const auto&, const auto&) { return experiments::EditResult(); };
        view_.reset();
        stage_ = std::make_unique<Stage>(start);
        stage_->pause(true);
        view_ = std::make_unique<WindowView>(*stage_, ViewOptions(), 1.F, 1.F);
        gui_.fonts_changed();
    }
    /// Types into the field that has the keyboard.
    void put_in(const std::string& text) {
        for (const char c : text) ImGui::GetIO().AddInputCharacter(unsigned(c));
        frames(3);
    }
    std::string chosen(const std::string& id) { return stage_->parameters().find(id).text(); }

    const std::string stars_ = "-1,0,0,0,0,0,1\n1,0,0,0,1,0,1\n0,1,0,1,0,0,1\n";
    const std::filesystem::path folder_ =
        std::filesystem::temp_directory_path() / ("warpscope-open-" + std::to_string(::getpid()));
};

TEST_F(OpenFilesTest, BodiesBecomeTheStartOfNBody) {
    const std::string file = put("stars.csv", stars_);
    drop(file);
    EXPECT_EQ(stage_->entry().id, "nbody");
    EXPECT_EQ(chosen("start"), "file");
    EXPECT_EQ(chosen("file"), file);
    EXPECT_EQ(value("message"), "Opened stars.csv: 3 bodies.");
    EXPECT_EQ(view_->options().recent_files, std::vector<std::string>{file});
}

TEST_F(OpenFilesTest, APictureBringsItsSettingsBackAndUndoTakesThemAway) {
    set("sync", "off");
    stage_->set_run({compute::Math::precise, compute::Schedule::reverse, 9});
    stage_->step_once();
    settle();
    save_screenshot(*stage_, {{64, 64}, true, {}}, path("race.png"));
    set("sync", "on");
    stage_->set_run({});
    stage_->select(experiments::unowned(experiments::find_experiment("dot")));
    settle();
    ASSERT_EQ(stage_->entry().id, "dot");
    drop(path("race.png"));
    EXPECT_EQ(stage_->entry().id, "ripple");
    EXPECT_EQ(chosen("sync"), "off");
    EXPECT_EQ(chosen("size"), "64");
    EXPECT_EQ(stage_->run().schedule, compute::Schedule::reverse);
    EXPECT_EQ(stage_->run().seed, 9U);
    EXPECT_EQ(value("message"), "The settings of race.png are back. The picture is frame 1.");
    stage_->undo();
    settle();
    EXPECT_EQ(chosen("sync"), "on");
    EXPECT_EQ(stage_->run().seed, 1U);
}

TEST_F(OpenFilesTest, AKernelNeedsACompiler) {
    ASSERT_NE(stage_->read_only(), "");
    drop(put("mine.cu", "int a;\n"));
    EXPECT_EQ(stage_->entry().id, "ripple");
    EXPECT_NE(value("message").find("Cannot run mine.cu"), std::string::npos) << value("message");
    EXPECT_TRUE(view_->options().recent_files.empty());
}

TEST_F(OpenFilesTest, AKernelGetsALaunch) {
    begin_with_a_compiler();
    drop(put("other.cu", "__global__ void other(int a) {}\n"));
    EXPECT_TRUE(view_->options().editor);
    EXPECT_EQ(stage_->entry().id, "launch");
    EXPECT_EQ(stage_->entry().title, "other.cu");
    EXPECT_EQ(value("editor.file"), "launch/other");
    EXPECT_EQ(value("dock.launch"), "on");
}

TEST_F(OpenFilesTest, ACaptureInOneFileOpensItsFirstLaunch) {
    begin_with_a_compiler();
    ::setenv("XDG_CACHE_HOME", folder_.c_str(), 1);  // where archives are unpacked
    const std::filesystem::path tests = std::filesystem::path(__FILE__) / "../../..";
    drop((tests.lexically_normal() / "fuzz/corpus/capture/program.wslaunch").string());
    EXPECT_EQ(stage_->entry().id, "launch") << value("message");
    ASSERT_TRUE(stage_->shown().plan);
    ASSERT_EQ(stage_->shown().plan->file.launches.size(), 1U);
    EXPECT_EQ(stage_->shown().plan->file.launches[0].kernel, "add_one");
    EXPECT_EQ(value("program_launch"), "1");
    ::unsetenv("XDG_CACHE_HOME");
}

TEST_F(OpenFilesTest, AWrongFileLeavesEverythingAsItIs) {
    drop(put("photo.jpg", "not bodies"));
    EXPECT_EQ(stage_->entry().id, "ripple");
    EXPECT_EQ(stage_->message().tone, Tone::error);
    EXPECT_NE(value("message").find("photo.jpg"), std::string::npos) << value("message");
    EXPECT_TRUE(view_->options().recent_files.empty());
}

TEST_F(OpenFilesTest, ThePopupHasRecentFilesAndTakesAPath) {
    const std::string first = put("first.csv", stars_), second = put("second.csv", stars_);
    drop(first);
    click("open");
    EXPECT_EQ(value("open:0"), first);
    EXPECT_EQ(value("open.path"), (folder_ / "").string());
    put_in(second);
    press_enter();
    read();
    EXPECT_EQ(value("open.path"), "(no such widget)");
    EXPECT_EQ(chosen("file"), second);
    click("open");
    EXPECT_EQ(value("open:0"), second);
    EXPECT_EQ(value("open:1"), first);
    click("open:1");
    read();
    EXPECT_EQ(chosen("file"), first);
    EXPECT_EQ(view_->options().recent_files, (std::vector<std::string>{first, second}));
}

TEST_F(OpenFilesTest, AWrongPathIsSaidInThePopupAndKept) {
    click("open");
    put_in(path("none.csv"));
    press_enter();
    EXPECT_EQ(value("open.path"), path("none.csv"));
    EXPECT_EQ(value("open.path.error"), "There is no file with this path.");
    press_key(ImGuiKey_Escape);
    EXPECT_EQ(value("open.path"), "(no such widget)");
    click("open");
    EXPECT_EQ(value("open.path"), path("none.csv")) << "the typed path is still there";
}

TEST_F(OpenFilesTest, ThePopupListsFilesAndTabCompletesThePath) {
    const std::string stars = put("stars.csv", stars_);
    put("stones.csv", stars_);
    put("mine.cu", "int a;");
    click("open");
    put_in(path("sta"));
    while (value("open.path:0") != stars) frames();
    press_key(ImGuiKey_Tab);
    EXPECT_EQ(value("open.path"), stars);
    put_in("/" + path(""));
    while (value("open.path:2") == "(no such widget)") frames();
    EXPECT_EQ(value("open.path:0"), path("mine.cu"));
    EXPECT_EQ(value("open.path:1"), stars);
    click("open.path:1");
    EXPECT_EQ(value("open.path"), stars) << "a click chooses a file";
    click("open.go");
    read();
    EXPECT_EQ(chosen("file"), stars);
}

TEST_F(OpenFilesTest, ALessonOpensAsALesson) {
    const std::string file =
        put("01-mine.md",
            "# Mine\n\n## Start\n\n- `experiment dot`\n\n## Gate\n\n- `races == 0`: None.\n");
    drop(file);
    EXPECT_EQ(value("lesson"), "mine");
    EXPECT_EQ(stage_->entry().id, "dot");
    view_->lessons().leave();
    frames(2);
    click("open");
    put_in(file);
    press_enter();
    read();
    EXPECT_EQ(value("lesson"), "mine");
}

TEST_F(OpenFilesTest, CapitalLettersInTheEndOfANameMakeNoDifference) {
    const std::string lesson =
        put("02-LOUD.MD",
            "# Loud\n\n## Start\n\n- `experiment dot`\n\n## Gate\n\n- `races == 0`: None.\n");
    click("open");
    put_in(lesson);
    press_enter();
    read();
    EXPECT_EQ(value("lesson"), "LOUD");
}

TEST_F(OpenFilesTest, TheStartFromAFileAsksForTheFileAndATypedPathIsAStart) {
    stage_->select(experiments::unowned(experiments::find_experiment("nbody")));
    set("bodies", "64");
    EXPECT_TRUE(enabled("nbody.file"));
    click("nbody.start");
    click("nbody.start:file");
    frames(2);
    EXPECT_NE(value("open.path"), "(no such widget)");
    EXPECT_EQ(chosen("start"), "plummer");
    press(5, 5);
    type("nbody.file", put("stars.csv", stars_));
    EXPECT_EQ(chosen("start"), "file");
    EXPECT_EQ(chosen("file"), path("stars.csv"));
}

}  // namespace
}  // namespace warpscope::ui
