#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "ui/editor/editor_fixture.h"

namespace warpscope::ui {
namespace {

using compiler::Severity;

TEST_F(EditorPanelTest, OpensInPlaceOfTheResultsWithABarrierInSight) {
    EXPECT_EQ(value("editor.open"), "on");
    EXPECT_EQ(value("editor.file"), "ripple");
    EXPECT_EQ(view_->layout().results.width, 0);
    ASSERT_GT(barrier_line(), 0);
    EXPECT_NE(line(barrier_line()).find("__sync"), std::string::npos);
    click("editor.close");
    EXPECT_EQ(value("editor.text"), "(no such widget)");
    EXPECT_EQ(value("editor.open"), "off");
}

TEST_F(EditorPanelTest, WithoutACompilerTheTextIsReadOnlyAndASentenceSaysWhy) {
    ASSERT_NE(stage_->read_only(), "");
    EXPECT_EQ(value("editor.state"), "read-only");
    EXPECT_EQ(value("editor.read_only"), stage_->read_only());
    click("editor.barrier." + std::to_string(barrier_line()));
    type("editor.line." + std::to_string(barrier_line()), "x");
    control('Z');
    EXPECT_FALSE(document().edited());
    for (const char* id : {"editor.undo", "editor.revert"}) EXPECT_FALSE(enabled(id)) << id;
}

TEST_F(EditorPanelTest, SaysForWhichTargetASourceIsCompiled) {
    show("pipeline", {{"size", "256"}});
    click("editor.open");
    frames(3);
    EXPECT_EQ(value("editor.state"), "read-only, for compute_80");
    show("pipeline", {{"size", "256"}, {"copies", "bulk"}});
    click("editor.open");
    frames(3);
    EXPECT_EQ(value("editor.state"), "read-only, for compute_90");
}

TEST_F(EditorPanelTest, TheOpenMicroscopeHidesTheEditor) {
    click("transport.microscope");
    frames(3);
    EXPECT_EQ(value("editor.text"), "(no such widget)");
    EXPECT_EQ(value("editor.open"), "off");
    click("microscope.close");
    frames(3);
    EXPECT_NE(value("editor.text"), "(no such widget)");
    click("transport.microscope");
    click("editor.open");
    frames(3);
    EXPECT_FALSE(view_->microscope().is_open());
    EXPECT_NE(value("editor.text"), "(no such widget)");
}

TEST_F(EditorPanelTest, DiagnosticsMoveWithTheirLines) {
    const int line = barrier_line();
    answer(State::failed, {{line, 0, Severity::error, "identifier \"foo\" is undefined"},
                           {0, 0, Severity::warning, "of the whole text"}});
    EXPECT_EQ(value("editor.diagnostic.0"),
              std::to_string(line) + ": identifier \"foo\" is undefined");
    EXPECT_EQ(value("editor.diagnostic.1"), "0: of the whole text");
    // A line more above: a watched folder did it.
    document().replace("// new\n" + text());
    frames(3);
    EXPECT_EQ(value("editor.diagnostic.0"),
              std::to_string(line + 1) + ": identifier \"foo\" is undefined");
    click("editor.diagnostic.0");
    frames(3);
    EXPECT_NE(value("editor.line." + std::to_string(line + 1)), "(no such widget)");
    answer(State::running, {});
    EXPECT_EQ(value("editor.diagnostic.0"), "(no such widget)");
}

TEST_F(EditorPanelTest, AnErrorLeavesTheLinesWhereTheyAre) {
    const std::string mark = "editor.barrier." + std::to_string(barrier_line());
    ASSERT_NE(value(mark), "(no such widget)");
    const Widget before = *view_->widgets().find(mark);
    answer(State::failed, {{barrier_line(), 0, Severity::error, "bad"}});
    ASSERT_NE(value("editor.diagnostic.0"), "(no such widget)");
    ASSERT_NE(value(mark), "(no such widget)");
    EXPECT_EQ(*view_->widgets().find(mark), before);
}

TEST_F(EditorPanelTest, MessagesStandInTheOrderOfTheirLines) {
    const auto error = [](int line, const char* text) {
        return compiler::Diagnostic{line, 0, Severity::error, text};
    };
    answer(State::failed, {error(12, "first"), error(12, "second"), error(11, "the cause")});
    EXPECT_EQ(value("editor.diagnostic.0"), "11: the cause");
    EXPECT_EQ(value("editor.diagnostic.1"), "12: first");
    EXPECT_EQ(value("editor.diagnostic.2"), "12: second");
}

TEST_F(EditorPanelTest, AnErrorWithoutADiagnosticIsShownAsASentence) {
    answer(State::failed, {}, "The kernel does not end.");
    EXPECT_EQ(value("editor.error"), "The kernel does not end.");
    answer(State::failed, {{1, 0, Severity::error, "a"}}, "a, line 1");
    EXPECT_EQ(value("editor.error"), "(no such widget)");
}

TEST_F(EditorPanelTest, TheLineWhereAKernelFailedIsMarked) {
    answer(State::failed, {}, "kernel ripple_txty, kernels/ripple.cu:7: thread (0,0,0)");
    ASSERT_TRUE(view_->editor().view().fault.has_value());
    EXPECT_EQ(view_->editor().view().fault->row, 6);
    document().replace("// a line more\n" + text());
    frames(3);
    EXPECT_EQ(view_->editor().view().fault->row, 7);
    for (const char* other :
         {"kernels/dot.cu:7: thread (0,0,0)", "kernels/ripple.cu:9999999: x",
          "kernels/ripple.cu:", "kernels/ripple.cu has no kernel ripple_txty"}) {
        answer(State::failed, {}, other);
        EXPECT_FALSE(view_->editor().view().fault.has_value()) << other;
    }
}

TEST_F(EditorPanelTest, TheDiffCountsRemovedAndAddedLines) {
    click("editor.diff");
    EXPECT_EQ(value("editor.diff.text"), "-0 +0");
    document().replace("// one\n// two\n" + text().substr(text().find('\n') + 1));
    frames(3);
    EXPECT_EQ(value("editor.diff.text"), "-1 +2");
    click("editor.diff");
    EXPECT_EQ(line(1).substr(0, 6), "(no su");  // the pane kept its place
}

// A save makes the saved text the one to compare with, and frees the one before.
TEST_F(EditorPanelTest, TheDiffOfASavedSourceIsEmpty) {
    document() = KernelDocument(text(), "mine.cu");
    click("editor.diff");
    for (const char* added : {"// one\n", "// two\n"}) {
        document().replace(added + text());
        frames(3);
        EXPECT_EQ(value("editor.diff.text"), "-0 +1");
        document().set_saved("mine.cu");
        frames(3);
        EXPECT_EQ(value("editor.diff.text"), "-0 +0");
    }
}

TEST_F(EditorTypingTest, AClickOnAMarkCommentsTheBarrierOutAndAnotherRestoresIt) {
    EXPECT_EQ(value("editor.state"), "built-in");
    const std::string mark = "editor.barrier." + std::to_string(barrier_line());
    EXPECT_EQ(value(mark), "in");
    click(mark);
    EXPECT_EQ(value(mark), "out");
    EXPECT_NE(row(barrier_line()).find("/*__syncthreads()*/;"), std::string::npos);
    EXPECT_NE(value("editor.state"), "built-in");
    click(mark);
    EXPECT_EQ(value(mark), "in");
    EXPECT_FALSE(document().edited());
    click("editor.undo");
    EXPECT_EQ(value(mark), "out");
    click("editor.revert");
    EXPECT_EQ(value(mark), "in");
}

TEST_F(EditorTypingTest, TypingChangesTheTextAndUndoTakesItBack) {
    const int line = barrier_line();
    const std::string before = row(line);
    end_of(line);
    put("  // why");
    EXPECT_EQ(row(line), before + "  // why");
    control('Z');
    EXPECT_EQ(row(line), before + "  // ");
    control('Z');
    control('Z');
    EXPECT_EQ(row(line), before);
    control('Y');
    EXPECT_EQ(row(line), before + "  ");
    put("x");  // the field goes on where the undo left the cursor
    EXPECT_EQ(row(line), before + "  x");
}

TEST_F(EditorTypingTest, EnterIndentsTheNewLineAndTabInsertsSpaces) {
    const int line = barrier_line();
    const std::string indentation = row(line).substr(0, row(line).find_first_not_of(' '));
    ASSERT_GE(indentation.size(), 4U);
    end_of(line);
    press_enter();
    put("a");
    EXPECT_EQ(row(line + 1), indentation + "a");
    press_key(ImGuiKey_Tab);
    put("b");
    EXPECT_EQ(row(line + 1), indentation + "a   b");
}

TEST_F(EditorTypingTest, PastedTabsBecomeSpacesAndTheClipboardKeepsThem) {
    const int line = barrier_line();
    const std::string before = row(line);
    end_of(line);
    paste("\n#define SIDE\t(2)\r\n\tx;");
    EXPECT_EQ(row(line), before);
    EXPECT_EQ(row(line + 1), "#define SIDE    (2)");
    EXPECT_EQ(row(line + 2), "    x;");
    EXPECT_STREQ(ImGui::GetClipboardText(), "\n#define SIDE\t(2)\r\n\tx;");
}

TEST_F(EditorTypingTest, EscapeLeavesTheFieldAndKeepsWhatWasTyped) {
    const int line = barrier_line();
    end_of(line);
    EXPECT_TRUE(ImGui::GetIO().WantTextInput);
    put("xyz");
    const std::string typed = row(line);
    press_key(ImGuiKey_Escape);
    EXPECT_FALSE(ImGui::GetIO().WantTextInput);
    EXPECT_EQ(row(line), typed);
    EXPECT_TRUE(typed.ends_with("xyz"));
    end_of(line);
    put("!");
    EXPECT_EQ(row(line), typed + "!");
}

TEST_F(EditorTypingTest, AClickedMarkAndATextFromAFolderReachTheFieldThatHasTheFocus) {
    const int line = barrier_line();
    end_of(line);
    put(" ");
    click("editor.barrier." + std::to_string(line));
    EXPECT_EQ(value("editor.barrier." + std::to_string(line)), "out");
    end_of(line);
    document().replace("// new\n" + text());  // while the field has the keys
    frames(3);
    EXPECT_EQ(row(1), "// new");
    control('Z');
    EXPECT_NE(row(1), "// new");
}

TEST_F(EditorTypingTest, TypingChangesTheFileOnShowOnly) {
    const std::string ripple = text(), dot = document("dot").text();
    const int line = barrier_line();
    click("editor.file");
    click("editor.file:dot");
    EXPECT_EQ(value("editor.file"), "dot");
    click("editor.diff");
    EXPECT_EQ(value("editor.diff.text"), "-0 +0");
    click("editor.diff");
    end_of(barrier_line());
    put("x");
    EXPECT_EQ(text(), ripple);
    EXPECT_EQ(document("dot").text().size(), dot.size() + 1);
    click("editor.file");
    click("editor.file:ripple");
    EXPECT_EQ(barrier_line(), line);
    EXPECT_EQ(text(), ripple);
}

TEST_F(EditorTypingTest, AClickOnADiagnosticMovesTheCursorToItsLine) {
    const int line = barrier_line();
    document().set_outcome(
        {State::failed, document().shared_text(), {{line, 0, Severity::error, "bad"}}, ""});
    frames(3);
    click("editor.diagnostic.0");
    frames(4);
    EXPECT_EQ(value("editor.text"), std::to_string(line) + ":1");
    put("x");
    EXPECT_EQ(row(line).front(), 'x');
}

TEST_F(EditorTypingTest, ATextOfOneMegabyteCanBeEdited) {
    std::string large = text();
    const int line = barrier_line();
    while (large.size() < (1 << 20)) large += "// a line of a large file, in a comment\n";
    document().replace(large);
    frames(3);
    end_of(line);
    put("xyz");
    EXPECT_EQ(text().size(), large.size() + 3);
    EXPECT_TRUE(row(line).ends_with("xyz"));
    control('Z');
    EXPECT_EQ(text(), large);
}

TEST_F(EditorTypingTest, ATextThatIsNotUtf8IsShownAndKeptAsItIs) {
    std::string noise = "a\xff\x01 b\xc3\n";
    noise += '\0';
    noise += "c\n";
    document().replace(noise);
    frames(3);
    EXPECT_NE(value("editor.read_only"), "(no such widget)");
    click("editor.line.1");
    put("x");
    EXPECT_EQ(text(), noise);
    click("editor.revert");
    EXPECT_FALSE(document().edited());
    EXPECT_EQ(value("editor.read_only"), "(no such widget)");
}

TEST_F(EditorTypingTest, SavesToAFileAndOpensItAgain) {
    std::filesystem::create_directories(folder_);
    view_->options().kernel_path = (folder_ / "old.cu").string();
    click("editor.barrier." + std::to_string(barrier_line()));
    const std::string edited = text();
    control('S');
    EXPECT_EQ(value("editor.path"), (folder_ / "ripple.cu").string());
    click("editor.path.go");
    std::ifstream in(folder_ / "ripple.cu");
    EXPECT_EQ(std::string(std::istreambuf_iterator<char>(in), {}), edited);
    EXPECT_EQ(view_->options().kernel_path, (folder_ / "ripple.cu").string());
    click("editor.revert");
    click("open");
    for (const char c : (folder_ / "ripple.cu").string())
        ImGui::GetIO().AddInputCharacter(unsigned(c));
    frames(3);
    EXPECT_EQ(value("open.path"), (folder_ / "ripple.cu").string());
    click("open.load");
    EXPECT_EQ(text(), edited);
    EXPECT_EQ(value("open.path"), "(no such widget)");
    EXPECT_EQ(stage_->entry().id, "ripple");
    EXPECT_TRUE(document().saved());
}

TEST_F(EditorTypingTest, ASavedFileIsSavedAgainWithoutAQuestion) {
    std::filesystem::create_directories(folder_);
    view_->options().kernel_path = (folder_ / "").string();
    control('S');
    press_enter();
    const std::string path = (folder_ / "ripple.cu").string();
    EXPECT_EQ(document().path(), path);
    EXPECT_EQ(value("editor.file:ripple"), "(no such widget)");
    click("editor.barrier." + std::to_string(barrier_line()));
    EXPECT_FALSE(document().saved());
    control('S');
    EXPECT_EQ(value("editor.path"), "(no such widget)");
    EXPECT_EQ(value("message"), "Saved " + path + ".");
    EXPECT_EQ(std::filesystem::file_size(path), text().size());
    // To the file itself, "Save as" needs no second thought either.
    click("editor.save_as");
    EXPECT_EQ(value("editor.path"), path);
    press_enter();
    EXPECT_EQ(value("editor.path"), "(no such widget)");
}

TEST_F(EditorTypingTest, AFileThatAnotherProgramHasChangedIsNotReplacedAtOnce) {
    std::filesystem::create_directories(folder_);
    view_->options().kernel_path = (folder_ / "").string();
    control('S');
    press_enter();
    std::ofstream(folder_ / "ripple.cu") << "theirs";
    control('S');
    EXPECT_NE(value("editor.path.error").find("Another program"), std::string::npos);
    EXPECT_EQ(std::filesystem::file_size(folder_ / "ripple.cu"), 6U);
    press_enter();
    EXPECT_EQ(std::filesystem::file_size(folder_ / "ripple.cu"), text().size());
}

TEST_F(EditorTypingTest, AfterARefusalAndEscapeTheNextSaveAsksAgain) {
    std::filesystem::create_directories(folder_);
    std::ofstream(folder_ / "ripple.cu") << "another";
    view_->options().kernel_path = (folder_ / "").string();
    control('S');
    press_enter();
    EXPECT_NE(value("editor.path.error").find("there already"), std::string::npos);
    press_key(ImGuiKey_Escape);
    EXPECT_EQ(value("editor.path"), "(no such widget)") << "one Escape closes the popup";
    control('S');
    EXPECT_EQ(value("editor.path"), (folder_ / "ripple.cu").string());
    press_enter();
    EXPECT_EQ(std::filesystem::file_size(folder_ / "ripple.cu"), 7U) << "asked again";
    press_enter();
    EXPECT_EQ(std::filesystem::file_size(folder_ / "ripple.cu"), text().size());
}

TEST_F(EditorTypingTest, AnExistingFileIsReplacedOnlyByASecondSave) {
    std::filesystem::create_directories(folder_);
    std::ofstream(folder_ / "ripple.cu") << "another";
    view_->options().kernel_path = (folder_ / "").string();
    click("editor.save");
    click("editor.path.go");
    EXPECT_NE(value("editor.path.error").find("there already"), std::string::npos);
    EXPECT_EQ(std::filesystem::file_size(folder_ / "ripple.cu"), 7U);
    click("editor.path.go");
    EXPECT_EQ(std::filesystem::file_size(folder_ / "ripple.cu"), text().size());
}

}  // namespace
}  // namespace warpscope::ui
