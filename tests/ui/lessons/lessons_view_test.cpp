#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>
#include <utility>

#include "compute/helper/helpers.h"
#include "experiments/lessons/lesson.h"
#include "ui/view_fixture.h"

namespace warpscope::ui {
namespace {

namespace fs = std::filesystem;

class LessonsView : public ViewFixture {
  protected:
    static fs::path lesson(const char* name) {
        return fs::path(README).parent_path() / "lessons" / name;
    }
    void open(const char* name) {
        view_->lessons().open(lesson(name));
        settle();
    }
    /// Until the thread that the microscope shows has been examined.
    void examine() {
        settle();
        do frames(2);
        while (view_->moves());
        frames(2);
    }
};

TEST_F(LessonsView, TheRippleIsBrokenAndAThreadIsNamed) {
    show("ripple", {{"size", "64"}});
    view_->options().bottom = 400;
    open("01-break-the-ripple.md");
    EXPECT_EQ(value("lesson"), "break-the-ripple");
    EXPECT_EQ(value("ripple.size"), "128") << "the lesson says so";
    EXPECT_EQ(value("lesson.gate.1"), "no");
    EXPECT_EQ(value("lesson.step.1"), "current") << "the lesson itself has switched the barrier";
    view_->press('S', 0);
    settle();
    EXPECT_EQ(value("lesson.step.1"), "done") << "the key does what a click on the switch does";
    EXPECT_EQ(value("lesson.step.2"), "current");
    EXPECT_EQ(value("lesson.gate.1"), "yes");
    EXPECT_EQ(value("lesson.gate.2"), "no");
    click("race");
    const emulator::Finding found = stage_->checks().inspection->verdict.findings.at(0);
    ASSERT_EQ(found.hazard, emulator::Hazard::read_after_write);
    click("finding.0");
    examine();
    EXPECT_EQ(view_->microscope().thread(), found.place().thread);
    EXPECT_EQ(value("lesson.gate.2"), "no") << "this thread reads after the write";
    ASSERT_TRUE(found.repaired_too.at(0).misread());
    view_->microscope().close();
    frames(3);
    click("finding.0.0");
    examine();
    EXPECT_EQ(view_->microscope().thread(), found.repaired_too[0].first.thread);
    EXPECT_EQ(value("lesson.gate.2"), "yes") << "the thread that the microscope shows";
    EXPECT_EQ(view_->options().lessons_passed, std::vector<std::string>{"break-the-ripple"});
    view_->lessons().leave();
    frames(3);
    EXPECT_EQ(value("lessons.passed"), "1 of 13");
    EXPECT_EQ(value("lessons:1"), "passed");
    EXPECT_EQ(value("lessons:2"), "open");
    view_->press('L', 0);
    frames(3);
    EXPECT_EQ(value("lessons:2"), "(no such widget)");
}

TEST_F(LessonsView, AnotherExperimentEndsTheLesson) {
    show("dot", {});
    open("01-break-the-ripple.md");
    view_->press('3', 0);
    settle();
    EXPECT_EQ(view_->lessons().lesson(), nullptr) << "a person has left it";
    EXPECT_EQ(stage_->entry().id, "dot");
    EXPECT_TRUE(view_->options().lessons) << "the list";
}

TEST_F(LessonsView, TheStepsMarkTheirWidgets) {
    show("ripple", {{"size", "64"}});
    open("01-break-the-ripple.md");
    EXPECT_EQ(view_->lessons().lesson()->steps[2].widget, "finding.0.0");
    view_->lessons().set_step(2);
    frames(2);
    EXPECT_EQ(value("lesson.step.3"), "current");
    EXPECT_EQ(value("lesson.step.1"), "open");
}

TEST_F(LessonsView, NoMarkIsDrawnOverAPopupOrAList) {
    show("ripple", {{"size", "64"}});
    open("01-break-the-ripple.md");
    EXPECT_EQ(value("coach_mark"), "1");
    view_->press('P', 3);  // Ctrl+Shift+P
    frames(3);
    ASSERT_NE(view_->widgets().find("palette:ripple"), nullptr);
    EXPECT_EQ(value("coach_mark"), "(no such widget)");
    press_key(ImGuiKey_Escape);
    frames(3);
    EXPECT_EQ(value("coach_mark"), "1");
    view_->press('H', 0);
    frames(3);
    EXPECT_EQ(value("coach_mark"), "(no such widget)") << "the list of keys";
    view_->press(256, 0);  // Esc
    frames(3);
    view_->tour().start();
    frames(3);
    EXPECT_EQ(value("tour"), "picture");
    const auto is_mark = [](const Widget& one) { return one.id == "coach_mark"; };
    EXPECT_EQ(std::ranges::count_if(view_->widgets().widgets(), is_mark), 1) << "of the tour";
}

// As a person walks it who clicks where the marks are.
TEST_F(LessonsView, AClickOnTheMarkedWidgetMarksThatOfTheNextStep) {
    show("ripple", {{"size", "64"}});
    view_->options().bottom = 400;
    open("01-break-the-ripple.md");
    EXPECT_EQ(value("lesson.step.1"), "current");
    click("ripple.sync");
    settle();
    EXPECT_EQ(value("lesson.step.2"), "current");
    click("race");
    frames(3);
    EXPECT_EQ(value("lesson.step.3"), "current");
    const emulator::Dim3 thread =
        stage_->checks().inspection->verdict.findings.at(0).repaired_too.at(0).place().thread;
    click("finding.0.0");
    examine();
    EXPECT_EQ(value("lesson.passed"), "yes");
    EXPECT_EQ(value("lesson.step.3"), "done");
    EXPECT_EQ(value("message"), "Passed: Break the ripple. Thread " + emulator::name_of(thread) +
                                    " reads too early.");
}

/// What the window shows, apart from the frame.
struct OnShow {
    std::string experiment;
    std::string values;
    compute::RunSettings run;
    std::string source;
    bool paused = false, editor = false;
    bool operator==(const OnShow&) const = default;
};

class RoomTest : public LessonsView {
  protected:
    // The lessons keep sources in folders of a person.
    RoomTest() {
        std::string folder = (fs::temp_directory_path() / "warpscope-room-XXXXXX").string();
        folder_ = ::mkdtemp(folder.data());
        ::setenv("XDG_CONFIG_HOME", (folder_ / "config").c_str(), 1);
        ::setenv("XDG_DATA_HOME", (folder_ / "data").c_str(), 1);
    }
    ~RoomTest() override {
        ::unsetenv("XDG_CONFIG_HOME");
        ::unsetenv("XDG_DATA_HOME");
        fs::remove_all(folder_);
    }
    OnShow on_show() {
        std::string values;
        for (const auto& [id, text] : stage_->parameters().assignments(true))
            values += id + "=" + text + " ";
        return {stage_->entry().id, values,
                stage_->run(),      stage_->documents()["ripple"].text(),
                stage_->paused(),   view_->options().editor};
    }
    KernelDocument& source() { return stage_->documents()["ripple"]; }
    /// The barrier is back where the lesson's source lacks it.
    void mend() {
        std::string text = source().text();
        const std::string before = "    const float value =";
        source().replace(text.replace(text.find(before), 0, "    __syncthreads();\n"));
    }

    fs::path folder_;
};

TEST_F(RoomTest, ALessonGivesBackWhatWasOnShow) {
    show("ripple", {{"size", "64"}, {"sync", "off"}});
    source().replace("// mine\n" + source().text());
    compute::RunSettings run = stage_->run();
    run.schedule = compute::Schedule::reverse;
    stage_->set_run(run);
    stage_->pause(false);
    settle();
    const OnShow before = on_show();
    open("02-mend-the-ripple.md");
    ASSERT_NE(before, on_show());
    EXPECT_EQ(stage_->run().schedule, compute::Schedule::random);
    open("01-break-the-ripple.md");
    stage_->pause(true);
    ASSERT_EQ(value("ripple.size"), "128");
    view_->press('L', 0);
    settle();
    EXPECT_EQ(view_->lessons().lesson(), nullptr);
    EXPECT_EQ(before, on_show());
    EXPECT_EQ(value("message"),
              "Left the lesson Break the ripple. Settings and sources are as they were before it.");
}

TEST_F(RoomTest, AnotherExperimentFindsTheParametersOfBefore) {
    show("ripple", {{"size", "64"}});
    const OnShow before = on_show();
    view_->press('3', 0);
    settle();
    ASSERT_EQ(stage_->entry().id, "dot");
    open("02-mend-the-ripple.md");
    ASSERT_EQ(value("ripple.size"), "128");
    view_->press('2', 0);
    settle();
    EXPECT_EQ(stage_->entry().id, "nbody") << "a person has chosen it";
    view_->press('1', 0);
    settle();
    EXPECT_EQ(before, on_show());
}

TEST_F(RoomTest, WhatAStudentHasWrittenComesBackWithTheLesson) {
    show("ripple", {{"size", "64"}});
    open("02-mend-the-ripple.md");
    const std::string start = source().text();
    mend();
    const std::string mended = source().text();
    open("01-break-the-ripple.md");
    EXPECT_EQ(source().text(), source().shipped());
    view_->lessons().leave();
    settle();
    EXPECT_FALSE(source().edited());
    open("02-mend-the-ripple.md");
    EXPECT_EQ(source().text(), mended);
    view_->lessons().start_again();
    settle();
    EXPECT_EQ(source().text(), start);
    view_->lessons().leave();
    open("02-mend-the-ripple.md");
    EXPECT_EQ(source().text(), start) << "nothing was written since";
}

TEST_F(RoomTest, AStepIsDoneByWhatItAsksFor) {
    show("ripple", {{"size", "64"}});
    open("02-mend-the-ripple.md");
    click("race");
    frames(2);
    EXPECT_EQ(value("lesson.step.1"), "current") << "the source is as it was";
    EXPECT_EQ(value("lesson.step.2"), "done");
    open("01-break-the-ripple.md");
    EXPECT_EQ(value("lesson.step.2"), "open");
    view_->press('S', 0);
    settle();
    view_->lessons().use(2);
    frames(2);
    EXPECT_EQ(value("lesson.step.2"), "done") << "to look, which comes before the next step";
}

TEST_F(RoomTest, APassedLessonIsTicked) {
    show("ripple", {{"size", "64"}});
    view_->options().lessons_passed = {"break-the-ripple"};
    open("01-break-the-ripple.md");
    for (const char* step : {"lesson.step.1", "lesson.step.2", "lesson.step.3"})
        EXPECT_EQ(value(step), "done");
    EXPECT_EQ(value("lesson.gate.1"), "passed") << "it does not hold now";
    EXPECT_EQ(value("coach_mark"), "(no such widget)");
}

// 1600 x 900 is a usual size of a laptop's window.
TEST_F(RoomTest, TheGateStandsAboveTheSteps) {
    show("ripple", {{"size", "64"}});
    open("01-break-the-ripple.md");
    EXPECT_LT(view_->widgets().find("lesson.gate.1")->y, view_->widgets().find("lesson.step.1")->y);
    EXPECT_TRUE(view_->widgets().find("lesson.gate.1")->visible) << "also at a height of 720";
}

/// With lessons that have launch files. Without NVRTC nothing is tested.
class LaunchLesson : public RoomTest {
  protected:
    void SetUp() override {
        if (!helpers_.no_compiler().empty()) GTEST_SKIP() << helpers_.no_compiler();
        Stage::Start start;
        start.device_wish = "emulator";
        start.experiment = "ripple";
        start.assignments = {{"size", "64"}};
        start.helpers = &helpers_;
        show(start);
    }
    void TearDown() override {  // the stage uses the helpers
        view_.reset();
        stage_.reset();
    }
    /// Until the launch of the lesson, or the text of its source, runs.
    void open_launch(const char* name) {
        view_->lessons().open(lesson(name));
        wait([&] { return stage_->entry().compile && view_->lessons().judgements().size() > 0; });
    }
    template <class Condition>
    void wait(Condition&& condition) {
        for (int i = 0; i < 100'000 && !condition(); ++i) {
            finish_edits();
            std::this_thread::sleep_for(std::chrono::milliseconds(2));
        }
        ASSERT_TRUE(condition());
    }

    compute::Helpers helpers_{WARPSCOPE};
};

TEST_F(LaunchLesson, ALaunchFileGivesBackTheExperiment) {
    const OnShow before = on_show();
    const experiments::SharedEntry newest = stage_->shown().launch;
    open_launch("12-a-lock-with-its-fences.md");
    EXPECT_EQ(value("lesson.gate.1"), "no");
    EXPECT_EQ(value("lesson.gate.2"), "yes");
    EXPECT_TRUE(view_->options().editor);
    view_->lessons().leave();
    settle();
    EXPECT_EQ(before, on_show());
    EXPECT_EQ(stage_->shown().launch->launch_file, newest->launch_file);
    EXPECT_EQ(view_->options().recent_files, std::vector<std::string>());
}

TEST_F(LaunchLesson, AnEditThatRunsTicksItsStep) {
    open_launch("12-a-lock-with-its-fences.md");
    EXPECT_EQ(value("lesson.step.1"), "current");
    EXPECT_EQ(value("lesson.step.3"), "open");
    KernelDocument& lock = stage_->documents()["launch/lock"];
    std::string text = lock.text();
    lock.replace(text + "int f(");
    finish_edits();
    EXPECT_EQ(value("lesson.step.3"), "open") << "it does not compile";
    lock.replace(text.insert(text.find("    if (in"), "    __threadfence();\n"));
    finish_edits();
    EXPECT_EQ(value("lesson.step.3"), "done");
    EXPECT_EQ(value("lesson.step.1"), "done") << "a step before, to look";
    EXPECT_EQ(value("lesson.passed"), "no") << "the other fence is missing";
    lock.replace(text.insert(text.find("    atomicExch"), "    __threadfence();\n"));
    finish_edits();
    EXPECT_EQ(value("lesson.passed"), "yes");
    view_->lessons().leave();
    settle();
    EXPECT_TRUE(std::as_const(*stage_).documents().edited_sources().empty());
    open_launch("12-a-lock-with-its-fences.md");
    wait([&] { return value("lesson.gate.1") == "yes"; });
    EXPECT_EQ(lock.text(), text);
}

TEST_F(LaunchLesson, AProgramRunsAfterEachChangeAndDecidesTheGate) {
    std::vector<std::string> ran;
    view_->lessons().run_program = [&](const std::string& name, const std::string& text,
                                       const std::stop_token&) {
        EXPECT_EQ(name, "early.cu");
        ran.push_back(text);
        const bool waits = text.find("cudaDeviceSynchronize();") != std::string::npos;
        const std::int64_t wrong = waits ? 0 : 1;
        return experiments::ProgramEvidence{
            {{"races", 256 * wrong}, {"exit_status", wrong}, {"launches", std::int64_t(1)}},
            waits ? "" : "The host reads."};
    };
    open_launch("13-the-host-that-reads-too-early.md");
    EXPECT_EQ(value("lesson.program"), "The host reads.");
    EXPECT_EQ(value("lesson.gate.1"), "no");
    EXPECT_EQ(value("lesson.gate.3"), "yes");
    KernelDocument& early = stage_->documents()["launch/early"];
    std::string text = early.text();
    early.replace(text.insert(text.find("    int sum"), "    cudaDeviceSynchronize();\n"));
    wait([&] { return value("lesson.passed") == "yes"; });
    EXPECT_EQ(value("lesson.program"), "");
    EXPECT_EQ(ran.size(), 2) << "one run for each text";
    EXPECT_EQ(ran.back(), text);
}

TEST_F(LessonsView, EveryWidgetOfEveryLessonExists) {
    for (const auto& file : experiments::lesson_files(fs::path(README).parent_path() / "lessons")) {
        const experiments::Lesson read = experiments::read_lesson(file);
        EXPECT_FALSE(read.text.empty()) << file;
        EXPECT_GE(read.steps.size(), 2) << file;
        for (const auto& step : read.steps) {
            EXPECT_NE(step.text, "") << file;
            EXPECT_EQ(step.text.find_first_of("[]`"), std::string::npos) << step.text;
        }
    }
    show("ripple", {{"size", "64"}});
    view_->options().editor = true;
    settle();
    for (const char* id : {"ripple.sync", "race", "transport.microscope", "editor.text",
                           "dock.counters", "editor.open", "lessons.button", "picture"})
        EXPECT_NE(view_->widgets().find(id), nullptr) << id;
}

TEST(LessonSteps, MarkOneWidgetEach) {
    const fs::path file =
        fs::temp_directory_path() / ("warpscope-lesson-" + std::to_string(::getpid()) + ".md");
    const auto read = [&](const char* step) {
        std::ofstream(file) << "# L\n\nT.\n\n## Start\n\n- `experiment ripple`\n\n## Steps\n\n1. "
                            << step << "\n\n## Gate\n\n- `races == 0`: None.\n";
        return experiments::read_lesson(file).steps.at(0);
    };
    EXPECT_EQ(read("Look at [the race](widget:race) now.").widget, "race");
    EXPECT_EQ(read("Look at [the race](widget:race) now.").text, "Look at the race now.");
    try {
        read("Compare [this](widget:a) with [that](widget:b).");
        FAIL() << "two widgets";
    } catch (const experiments::LessonError& error) {
        EXPECT_NE(std::string(error.what()).find("a step marks one widget"), std::string::npos);
    }
    fs::remove(file);
}

TEST_F(LessonsView, ALessonThatCannotBeReadIsAMessage) {
    show("ripple", {{"size", "64"}});
    view_->lessons().open("/nowhere/lesson.md");
    settle();
    EXPECT_EQ(view_->lessons().lesson(), nullptr);
    EXPECT_NE(value("message").find("/nowhere/lesson.md"), std::string::npos);
}

TEST_F(LessonsView, TheTourHasFiveStepsAndEnds) {
    show("ripple", {{"size", "64"}});
    view_->tour().start();
    frames(2);
    for (const char* id : {"picture", "ripple.sync", "race", "editor.open", "lessons.button"}) {
        EXPECT_EQ(value("tour"), id);
        click("tour.next");
    }
    EXPECT_FALSE(view_->tour().shows());
    view_->tour().start();
    view_->press(256, 0);  // Esc
    frames(2);
    EXPECT_FALSE(view_->tour().shows());
}

}  // namespace
}  // namespace warpscope::ui
