#include "ui/launch_form/launch_panel.h"

#include "launches/arrays/array_file.h"
#include "ui/launch_form/launch_panel_fixture.h"
#include "ui/window/screenshot.h"

namespace warpscope::ui {
namespace {

using launches::LaunchFile;

TEST_F(LaunchPanelTest, AFieldChangesTheLaunch) {
    click("dock.launch");
    EXPECT_EQ(state(), "add.launch.json");
    EXPECT_EQ(result("largest"), 1999);
    fill("launches[0].grid", "1");
    EXPECT_EQ(result("largest"), 511);
    EXPECT_EQ(state(), "add.launch.json (not saved)");
    EXPECT_FALSE(shows("launch.launches[0].arguments.a")) << "it is the scalar of its name";
    click("launch.arguments.launches[0]");
    fill("launches[0].arguments.a", "3 * a");
    EXPECT_EQ(result("largest"), 1 + 6 * 255);
    click("launch.arguments.launches[0]");
    EXPECT_TRUE(shows("launch.launches[0].arguments.a"));
    EXPECT_FALSE(shows("launch.launches[0].arguments.n"));
}

TEST_F(LaunchPanelTest, ATextThatCannotBeUsedStaysWhileAnotherFieldChanges) {
    click("dock.launch");
    fill("launches[0].block", "256 +");
    fill("launches[0].grid", "1");
    EXPECT_EQ(result("largest"), 511);
    EXPECT_EQ(value("launch.launches[0].block"), "256 +");
    EXPECT_TRUE(state().starts_with("launches[0].block: ")) << state();
    click("launch.add");
    press_button("launch.add:add");
    EXPECT_EQ(value("launch.launches[0].block"), "256 +");
    press_button("launch.remove.launches[1]");
    EXPECT_EQ(value("launch.launches[0].block"), "256") << "rows may have moved";
    EXPECT_EQ(state(), "add.launch.json (not saved)");
}

TEST_F(LaunchPanelTest, ATextThatCannotBeUsedStaysInItsField) {
    click("dock.launch");
    fill("launches[0].block", "256 +");
    EXPECT_TRUE(state().starts_with("launches[0].block: ")) << state();
    EXPECT_EQ(value("launch.launches[0].block"), "256 +");
    EXPECT_EQ(result("largest"), 1999);
    fill("launches[0].block", "2000");
    EXPECT_EQ(state(), "launches[0].block: \"2000\" is 2000: it must be 1 to 1024");
    EXPECT_EQ(value("launch.launches[0].block"), "2000");
    EXPECT_EQ(stage_->message().text, state());
    EXPECT_EQ(result("largest"), 1999);
    fill("launches[0].block", "128");
    EXPECT_EQ(state(), "add.launch.json (not saved)");
    EXPECT_EQ(result("largest"), 1023);
}

TEST_F(LaunchPanelTest, APictureOfTheLaunchOpensItsFileWithTheSettings) {
    std::ofstream(folder_ / "add.cu") << "kernels";
    click("dock.launch");
    press_button("launch.save");
    set("n", "600");
    set("view", "histogram");
    stage_->set_run({.seed = 9});
    settle();
    const std::filesystem::path png = folder_ / "add.png";
    save_screenshot(*stage_, {{64, 64}, true, {}}, png);
    stage_->set_run({});
    set("n", "1000");
    set("view", "plot");
    stage_->select(experiments::unowned(experiments::find_experiment("dot")));
    finish_edits();
    view_->open_file(png.string());
    frames();
    while (view_->moves()) frames();
    finish_edits();
    EXPECT_EQ(stage_->entry().launch_file, (folder_ / "add.launch.json").string());
    EXPECT_EQ(stage_->parameters().find("n").text(), "600");
    EXPECT_EQ(stage_->parameters().find("view").text(), "histogram");
    EXPECT_EQ(stage_->run().seed, 9U);
    EXPECT_EQ(result("largest"), 1199);
    EXPECT_EQ(value("message"),
              "Opened add.launch.json with the settings of add.png. The picture is frame 0.");
}

TEST_F(LaunchPanelTest, SaveWritesWhatIsChosen) {
    click("dock.launch");
    set("n", "500");
    set("view", "histogram");
    fill("launches[0].shared", "64");
    click("launch.save");
    finish_edits();
    EXPECT_EQ(state(), "add.launch.json");
    const LaunchFile saved = launches::read_launch_file(folder_ / "add.launch.json");
    EXPECT_EQ(std::get<launches::Number>(saved.scalars[0].second),
              launches::Number(std::int64_t(500)));
    EXPECT_TRUE(
        std::holds_alternative<double>(std::get<launches::Number>(saved.scalars[1].second)));
    EXPECT_EQ(saved.view, launches::BufferView::histogram);
    EXPECT_EQ(saved.show, "y");
    EXPECT_EQ(saved.launches[0].shared.text(), "64");
    EXPECT_EQ(stage_->entry().launch_file, (folder_ / "add.launch.json").string());
}

TEST_F(LaunchPanelTest, SaveWritesAnEditedSourceTooAndThenNothingIsEdited) {
    click("dock.launch");
    KernelDocument& source = stage_->documents()["launch/add"];
    source.replace("kernels, mended");
    finish_edits();
    EXPECT_EQ(value("edited"), "add.cu");
    press_button("launch.save");
    EXPECT_EQ(value("message"),
              "Saved " + (folder_ / "add.launch.json").string() + " and its source add.cu.");
    std::ifstream in(folder_ / "add.cu");
    EXPECT_EQ(std::string(std::istreambuf_iterator<char>(in), {}), "kernels, mended");
    EXPECT_TRUE(source.saved());
    EXPECT_EQ(value("edited"), "(no such widget)");
    press_button("launch.save");
    EXPECT_EQ(value("message"), "Saved " + (folder_ / "add.launch.json").string() + ".");
}

TEST_F(LaunchPanelTest, APlotHasNumbersAtItsAxes) {
    const std::string labels = value("plot.labels");
    EXPECT_TRUE(labels.ends_with(" to 1999 of 1000 elements")) << labels;
    set("n", "4");
    EXPECT_TRUE(value("plot.labels").ends_with(" of 4 elements")) << value("plot.labels");
    set("view", "histogram");
    EXPECT_EQ(value("plot.labels"), "(no such widget)");
}

// The edits of the file that was opened first would be lost.
TEST_F(LaunchPanelTest, AnotherFileOfTheNameWaitsUntilTheEditsAreSaved) {
    KernelDocument& source = stage_->documents()["launch/add"];
    source.replace("kernels, mended");
    finish_edits();
    std::filesystem::create_directories(folder_ / "other");
    std::ofstream(folder_ / "other/add.cu") << "other kernels";
    const auto open = [&] {
        view_->open_file((folder_ / "other/add.cu").string());
        frames();
        while (view_->moves()) frames();
        finish_edits();
    };
    open();
    EXPECT_EQ(source.text(), "kernels, mended");
    EXPECT_NE(value("message").find("has edits that are not saved"), std::string::npos);
    save_kernel(source, source.path());
    open();
    EXPECT_EQ(stage_->documents()["launch/add"].text(), "other kernels");
}

TEST_F(LaunchPanelTest, AKernelIsAddedAndRemoved) {
    click("dock.launch");
    click("launch.add");
    click("launch.add:add");
    finish_edits();
    EXPECT_EQ(stage_->shown().plan->launches.size(), 2U);
    EXPECT_EQ(result("largest"), 1 + 2 * 2 * 999);
    click("launch.remove.launches[0]");
    finish_edits();
    EXPECT_EQ(stage_->shown().plan->launches.size(), 1U);
    EXPECT_EQ(result("largest"), 1999);
}

TEST_F(LaunchPanelTest, TheLaunchThatIsChosenIsChecked) {
    click("dock.launch");
    fill("launches[0].grid", "3");
    click("launch.add");
    click("launch.add:add");
    finish_edits();
    set("launch", "1");
    EXPECT_EQ(stage_->checks().inspection->of_blocks, 4U) << "1000 threads in blocks of 256";
    set("launch", "0");
    EXPECT_EQ(stage_->checks().inspection->of_blocks, 3U);
}

TEST_F(LaunchPanelTest, ASourceThatDoesNotCompileKeepsTheLastGoodKernel) {
    stage_->documents()["launch/add"].replace("error");
    finish_edits();
    EXPECT_EQ(stage_->message().text, "add.cu:1: no such name");
    EXPECT_EQ(stage_->documents()["launch/add"].state(), EditState::failed);
    EXPECT_EQ(result("largest"), 1999);
    stage_->documents()["launch/add"].replace("kernels again");
    finish_edits();
    EXPECT_EQ(stage_->documents()["launch/add"].state(), EditState::running);
    EXPECT_EQ(value("edited"), "add.cu");
    stage_->documents()["launch/add"].replace("kernels");
    finish_edits();
    EXPECT_EQ(value("edited"), "(no such widget)");
}

TEST_F(LaunchPanelTest, TheNumbersOfTheBufferAreListedAndSaved) {
    click("dock.buffer");
    EXPECT_EQ(value("buffer.state"), "y: 1000 of type float, frame 0");
    click("buffer.csv");
    frames(2);
    std::ifstream csv(folder_ / "y.csv");
    std::string line;
    std::getline(csv, line);
    EXPECT_TRUE(line.starts_with("1")) << line;
    click("buffer.npy");
    click("buffer.npy");
    frames(2);
    const launches::Array saved =
        launches::read_array(folder_ / "y-2.npy", launches::ElementType{});
    EXPECT_EQ(saved.at(999), launches::Number(1999.0));
    LaunchFile expecting = stage_->shown().plan->file;
    expecting.expect.push_back({"y", launches::Fill(launches::Expression("2 * i + 1 + (i == 5)"))});
    stage_->change_launch(expecting);
    finish_edits();
    EXPECT_EQ(value("buffer.state"), "y: 1000 of type float, frame 0, 1 differing element");
}

TEST_F(LaunchPanelTest, TheAccessesToEachElementArePaintedOverThePicture) {
    click("dock.launch");
    set("paint", "reads");
    EXPECT_EQ(value("picture.heat"),
              "Choose a view that is a picture: colours, grey or a colour map.");
    fill("launches[0].grid", "3");
    set("view", "grey");
    EXPECT_EQ(value("picture.heat"), "reads of y");
    EXPECT_EQ(value("picture.heat.scale"), "1");
    const Widget pixels = *view_->widgets().find("picture.pixels");
    const auto hover = [&](int x, int y) {
        point(float(pixels.x + (x + 0.5) * pixels.w / 32),
              float(pixels.y + (y + 0.5) * pixels.h / 32));
        return value("picture.hover.hint");
    };
    EXPECT_EQ(hover(31, 23), "1 reads, 1 writes, 0 atomics, 0 races") << "element 767";
    EXPECT_EQ(hover(0, 24), "0 reads, 0 writes, 0 atomics, 0 races") << "element 768";
    EXPECT_EQ(hover(8, 31), "(no such widget)") << "y has 1000 elements";
    set("buffer", "x");
    set("paint", "writes");
    EXPECT_EQ(value("picture.heat"), "writes of x");
    EXPECT_EQ(value("picture.heat.scale"), "0");
    set("paint", "nothing");
    EXPECT_EQ(value("picture.heat"), "(no such widget)");
}

TEST_F(LaunchPanelTest, OtherMathAndOtherExperimentsLeaveTheLaunch) {
    click("dock.launch");
    fill("launches[0].grid", "1");
    stage_->set_run({.math = compute::Math::fast});
    finish_edits();
    EXPECT_EQ(result("largest"), 511);
    stage_->select(experiments::unowned(experiments::find_experiment("dot")));
    finish_edits();
    EXPECT_EQ(stage_->entry().id, "dot");
    EXPECT_EQ(value("tab.launch"), "off");
    stage_->set_run({.math = compute::Math::precise});  // makes all experiments anew
    finish_edits();
    click("tab.launch");
    finish_edits();
    EXPECT_EQ(stage_->entry().id, "launch");
    EXPECT_EQ(result("largest"), 511);
}

}  // namespace
}  // namespace warpscope::ui
