#include "ui/view_fixture.h"

namespace warpscope::ui {
namespace {

using HeatPanelTest = ViewFixture;

// 16 blocks write each word of the tile once and read it once, with 8 words of a bank in a pass.
TEST_F(HeatPanelTest, ShowsTheFigureOfTheArrayThatIsChosen) {
    show("ripple", {{"size", "64"}});
    click("dock.heat");
    EXPECT_EQ(value("heat.kernel"), "ripple_txty");
    EXPECT_EQ(value("heat.array"), "tile");
    EXPECT_EQ(value("heat.figure:reads"), "on");
    EXPECT_EQ(value("heat.grid"), "256 words, 32 in a row, at most 16");
    EXPECT_EQ(value("heat.scale"), "16");
    click("heat.figure:conflicts");
    EXPECT_EQ(value("heat.grid"), "256 words, 32 in a row, at most 224") << "16 x 2 x 7";
    click("heat.figure:atomics");
    EXPECT_EQ(value("heat.scale"), "0");

    click("heat.array");
    click("heat.array:pixels");
    EXPECT_EQ(value("heat.array"), "pixels");
    EXPECT_EQ(view_->widgets().find("heat.figure:conflicts"), nullptr)
        << "global memory has no banks";
    click("heat.figure:writes");
    EXPECT_EQ(value("heat.grid"), "4096 words, 64 in a row, at most 1");
}

// 16 blocks read each word of the tile once, in a warp that did not write it.
TEST_F(HeatPanelTest, ShowsTheRacesOfEachWord) {
    show("ripple", {{"size", "64"}, {"sync", "off"}});
    click("dock.heat");
    click("heat.figure:races");
    EXPECT_EQ(value("heat.array"), "tile");
    EXPECT_EQ(value("heat.grid"), "256 words, 32 in a row, at most 16");
    click("heat.array");
    click("heat.array:pixels");
    EXPECT_EQ(value("heat.figure:races"), "on");
    EXPECT_EQ(value("heat.scale"), "0");
    set("sync", "on");
    click("heat.array");
    click("heat.array:tile");
    EXPECT_EQ(value("heat.scale"), "0");
}

TEST_F(HeatPanelTest, FollowsTheKernelOnShow) {
    show("reduction", {{"kernel", "sequential"}, {"n", "4096"}, {"block", "256"}});
    click("dock.heat");
    EXPECT_EQ(value("heat.kernel"), "reduce_sequential");
    EXPECT_EQ(value("heat.array"), "sdata");
    set("kernel", "sum_within_block");
    EXPECT_EQ(value("heat.kernel"), "sum_within_block");
    EXPECT_EQ(value("heat.array"), "shared_data");
}

}  // namespace
}  // namespace warpscope::ui
