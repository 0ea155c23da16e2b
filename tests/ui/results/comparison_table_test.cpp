#include "ui/results/results_panel.h"

#include <gtest/gtest.h>

#include "ui/view_fixture.h"

namespace warpscope::ui {
namespace {

using experiments::Comparison;
using experiments::Verdict;
using ComparisonOfTheEmulator = ViewFixture;

TEST_F(ComparisonOfTheEmulator, ShowsCountsAndMultiples) {
    show("ripple", {{"size", "64"}});
    click("compare");
    frames(4);
    EXPECT_EQ(value("compare.title"), "Tile layouts, with the barrier");
    EXPECT_EQ(value("compare.txty.bank_passes"), "2 048 ×1");
    EXPECT_EQ(value("compare.tytx.bank_passes"), "256 ×0.125");
    EXPECT_EQ(value("compare.bytes.sectors"), "2 048 ×4");
    EXPECT_EQ(value("compare.bytes.barriers"), "16 ×1");
    EXPECT_TRUE(value("compare.txty.time").starts_with("emulated in "));
    EXPECT_EQ(value("compare.txty"), "(no such widget)") << "no rate of the emulator";
}

TEST(ComparisonOfAGpu, ShowsRatesAndMultiples) {
    const Comparison table{"Kernels",
                           "interactions/s",
                           "interaction",
                           "time in a tutorial",
                           {{"a", "float3", 9.1, 1.2e9, 3e-7, Verdict::pass, "3383.6 ms"},
                            {"c", "tiled", 5.2, 1.75e9, 2e-7, Verdict::pass, ""}}};
    const gl::OffscreenContext context;
    gl::Framebuffer framebuffer(400, 600);
    Gui gui;
    Ui ui(1, 1);
    gui.begin_frame(400, 600);
    draw_comparison_table(ui, table);
    framebuffer.bind();
    gui.render(400, 600);
    EXPECT_EQ(ui.widgets.find("compare.a")->value, "1.20 G interactions/s  ×1");
    EXPECT_EQ(ui.widgets.find("compare.c")->value, "1.75 G interactions/s  ×1.46");
    EXPECT_EQ(ui.widgets.find("compare.a.sectors"), nullptr);
    EXPECT_NE(ui.widgets.find("compare.a.published"), nullptr);
    EXPECT_EQ(ui.widgets.find("compare.c.published"), nullptr);
}

}  // namespace
}  // namespace warpscope::ui
