#include "ui/launch_form/launch_panel_fixture.h"

namespace warpscope::ui {
namespace {

using LaunchUndoTest = LaunchPanelTest;

TEST_F(LaunchUndoTest, UndoAndRedoGoThroughTheChangesOfTheForm) {
    click("dock.launch");
    EXPECT_FALSE(enabled("launch.undo"));
    fill("launches[0].grid", "1");
    click("launch.arguments.launches[0]");
    fill("launches[0].arguments.a", "3 * a");
    EXPECT_EQ(result("largest"), 1 + 6 * 255);
    press_button("launch.undo");
    EXPECT_EQ(stage_->message().text, "Undone: the change of launches[0].arguments.a.");
    EXPECT_EQ(result("largest"), 511);
    EXPECT_EQ(state(), "add.launch.json (not saved)");
    press_button("launch.undo");
    EXPECT_EQ(result("largest"), 1999);
    EXPECT_EQ(state(), "add.launch.json");
    EXPECT_FALSE(enabled("launch.undo"));
    press_button("launch.redo");
    press_button("launch.redo");
    EXPECT_EQ(result("largest"), 1 + 6 * 255);
    EXPECT_EQ(value("launch.launches[0].arguments.a"), "3 * a");
    EXPECT_FALSE(enabled("launch.redo"));
    press_button("launch.undo");
    fill("launches[0].repeat", "1 + 0");  // what was undone is gone
    EXPECT_FALSE(enabled("launch.redo"));
    EXPECT_EQ(result("largest"), 511);
}

TEST_F(LaunchUndoTest, UndoBringsBackRowsScalarsAndTextsThatCannotBeUsed) {
    click("dock.launch");
    set("n", "600");
    fill("scalars.n", "5 * 100");
    EXPECT_EQ(stage_->parameters().find("n").text(), "500");
    EXPECT_EQ(result("largest"), 999);
    press_button("launch.undo");
    EXPECT_EQ(stage_->parameters().find("n").text(), "600");
    EXPECT_EQ(result("largest"), 1199);
    press_button("launch.redo");
    EXPECT_EQ(result("largest"), 999);
    fill("launches[0].block", "256 +");
    press_button("launch.undo");
    EXPECT_EQ(value("launch.launches[0].block"), "256");
    press_button("launch.redo");
    EXPECT_EQ(value("launch.launches[0].block"), "256 +");
    press_button("launch.undo");
    fill("launches[0].block", "2000");
    EXPECT_EQ(state(), "launches[0].block: \"2000\" is 2000: it must be 1 to 1024");
    press_button("launch.undo");
    EXPECT_EQ(state(), "add.launch.json (not saved)");
    click("launch.add");
    press_button("launch.add:add");
    ASSERT_EQ(stage_->shown().plan->launches.size(), 2U);
    press_button("launch.undo");
    EXPECT_EQ(stage_->shown().plan->launches.size(), 1U);
}

TEST_F(LaunchUndoTest, CtrlZIsForTheFormWhereItWasUsedLastAndElseForTheParameters) {
    constexpr int control = 2, shift = 1;  // as GLFW numbers them
    click("dock.launch");
    set("n", "600");
    fill("launches[0].grid", "1");
    EXPECT_EQ(result("largest"), 511);
    view_->press('Z', control);
    finish_edits();
    EXPECT_EQ(result("largest"), 1199);
    view_->press('Z', control | shift);
    finish_edits();
    EXPECT_EQ(result("largest"), 511);
    press(5, 5);  // beside all widgets
    view_->press('Z', control);
    finish_edits();
    EXPECT_EQ(stage_->parameters().find("n").text(), "1000");
    EXPECT_EQ(stage_->shown().plan->file.launches[0].grid[0].text(), "1");
}

TEST_F(LaunchUndoTest, TheTargetOfTheSourceIsChosenAndUndone) {
    click("dock.launch");
    EXPECT_EQ(value("launch.target"), "auto");
    click("launch.target");
    click("launch.target:80");
    EXPECT_EQ(value("launch.target"), "80");
    press_button("launch.undo");
    EXPECT_EQ(value("launch.target"), "auto");
}

}  // namespace
}  // namespace warpscope::ui
