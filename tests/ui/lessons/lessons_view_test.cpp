#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

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
    EXPECT_EQ(value("lesson.step.1"), "on") << "the lesson itself has switched the barrier";
    view_->press('S', 0);
    settle();
    EXPECT_EQ(value("lesson.step.2"), "on") << "the key does what a click on the switch does";
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

TEST_F(LessonsView, AnotherExperimentIsNotJudged) {
    show("dot", {});
    open("01-break-the-ripple.md");
    view_->press('3', 0);
    settle();
    EXPECT_TRUE(view_->lessons().is_elsewhere());
    EXPECT_EQ(value("lesson.gate.1"), "no");
}

TEST_F(LessonsView, TheStepsMarkTheirWidgets) {
    show("ripple", {{"size", "64"}});
    open("01-break-the-ripple.md");
    EXPECT_EQ(view_->lessons().lesson()->steps[2].widget, "finding.0.0");
    click("lesson.step.3");
    EXPECT_EQ(value("lesson.step.3"), "on");
    EXPECT_EQ(value("lesson.step.1"), "off");
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
    EXPECT_EQ(value("lesson.step.1"), "on");
    click("ripple.sync");
    settle();
    EXPECT_EQ(value("lesson.step.2"), "on");
    click("race");
    frames(3);
    EXPECT_EQ(value("lesson.step.3"), "on");
    const emulator::Dim3 thread =
        stage_->checks().inspection->verdict.findings.at(0).repaired_too.at(0).place().thread;
    click("finding.0.0");
    examine();
    EXPECT_EQ(value("lesson.passed"), "yes");
    EXPECT_EQ(value("message"), "Passed: Break the ripple. Thread " + emulator::name_of(thread) +
                                    " reads too early.");
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
