#include <fmt/format.h>

#include "ui/view_fixture.h"

namespace warpscope::ui {
namespace {

// kernels/ripple.cu: the tile is written, the barrier orders, the tile is read.
constexpr int write_line = 50, barrier_line = 53, read_line = 54;

/// Breakpoints in the window, over a ripple of 64x64 pixels: 8 warps a block, 256 words.
class BreaksPanelTest : public ViewFixture {
  protected:
    void open_ripple() {
        show("ripple", {{"size", "64"}, {"sync", "on"}});
        click("transport.microscope");
        click("dock.breaks");
    }
    int position() { return std::stoi(value("microscope.position")); }
    std::string line(int number) { return value(fmt::format("source.line.{}", number)); }
    void click_line(int number) { click(fmt::format("source.line.{}", number)); }
    /// Clicks a word of the grid of 16 words a row.
    void click_word(unsigned word, int button) {
        const Widget* tile = view_->widgets().find("tile");
        ASSERT_NE(tile, nullptr);
        press(float(tile->x + (word % 16 + 0.5) * tile->w / 16),
              float(tile->y + (word / 16 + 0.5) * tile->h / 16), button);
    }
    Microscope& microscope() { return view_->microscope(); }
};

TEST_F(BreaksPanelTest, AClickBesideALineSetsABreakpointAndRemovesIt) {
    open_ripple();
    EXPECT_FALSE(enabled("microscope.break"));
    EXPECT_EQ(line(read_line), "");
    click_line(read_line);
    EXPECT_EQ(line(read_line), "breakpoint");
    EXPECT_EQ(value("breakpoint.0"), fmt::format("kernels/ripple.cu:{}", read_line));
    EXPECT_TRUE(enabled("microscope.break"));
    click("breakpoint.0.enabled");
    EXPECT_EQ(line(read_line), "disabled");
    EXPECT_FALSE(enabled("microscope.break"));
    click_line(read_line);
    EXPECT_EQ(line(read_line), "");
    EXPECT_EQ(view_->widgets().find("breakpoint.0"), nullptr);
}

TEST_F(BreaksPanelTest, RunsStopOnceForEachWarpAndComeBack) {
    open_ripple();
    click_line(barrier_line);
    std::vector<int> forwards, backwards;
    for (int i = 0; i < 8; ++i) {
        click("microscope.break");
        forwards.push_back(position());
        const std::string why = fmt::format("Warp {} reaches kernels/ripple.cu:{}.",
                                            microscope().acting_warp(), barrier_line);
        EXPECT_EQ(value("breaks.stop"), why);
        EXPECT_EQ(value("message"), why);
        EXPECT_EQ(microscope().warp(), microscope().acting_warp()) << "the warp is picked";
    }
    EXPECT_EQ(value("microscope.epoch"), "0");
    click("microscope.break");
    EXPECT_EQ(value("breaks.stop"),
              "No breakpoint or watchpoint was ahead: the block ran to its end.");
    EXPECT_EQ(value("microscope.ending"), "The block has finished.");
    for (int i = 0; i < 8; ++i) {
        click("microscope.break_back");
        backwards.insert(backwards.begin(), position());
    }
    EXPECT_EQ(backwards, forwards);
    click("microscope.break_back");
    EXPECT_EQ(position(), 0);
    EXPECT_EQ(value("breaks.stop"),
              "No breakpoint or watchpoint was behind: this is the start of the block.");
}

TEST_F(BreaksPanelTest, AWarpALaneAndAConditionAreTyped) {
    open_ripple();
    click_line(read_line);
    type("breakpoint.0.warp", "5");
    click("microscope.break");
    EXPECT_EQ(value("breaks.stop"), fmt::format("Warp 5 reaches kernels/ripple.cu:{}.", read_line));
    EXPECT_EQ(microscope().warp(), 5U);
    // The compiler has moved the load behind the condition of line 57: the line has two parts.
    const int first = position();
    click("microscope.break");
    EXPECT_GT(position(), first);
    EXPECT_EQ(value("breaks.stop"), fmt::format("Warp 5 reaches kernels/ripple.cu:{}.", read_line));
    click("microscope.break");
    EXPECT_EQ(value("breaks.stop"),
              "No breakpoint or watchpoint was ahead: the block ran to its end.");
    click("microscope.restart");
    type("breakpoint.0.warp", "any");
    type("breakpoint.0.lane", "9");
    type("breakpoint.0.condition", "%r3 == 13");  // threadIdx.y: the second row of warp 6
    EXPECT_EQ(view_->widgets().find("breakpoint.0.condition.error"), nullptr);
    click("microscope.break");
    EXPECT_EQ(value("breaks.stop"),
              "No breakpoint or watchpoint was ahead: the block ran to its end.")
        << "lane 9 of warp 6 has threadIdx.y 12";
    click("microscope.restart");
    type("breakpoint.0.lane", "25");
    click("microscope.break");
    EXPECT_EQ(
        value("breaks.stop"),
        fmt::format("Warp 6, lane 25, reaches kernels/ripple.cu:{} with %r3 == 13.", read_line));
    EXPECT_EQ(microscope().lane(), 25U);
}

TEST_F(BreaksPanelTest, BadValuesAreNamedAtTheirFields) {
    open_ripple();
    click_line(read_line);
    type("breakpoint.0.condition", "%r3 = 1");
    EXPECT_EQ(value("breakpoint.0.condition.error"), "\"%r3 = 1\": an operator is missing");
    type("breakpoint.0.condition", "%r777 == 1");
    EXPECT_EQ(value("breakpoint.0.condition.error"),
              "the kernel ripple_txty has no register %r777");
    const std::string complaint = value("breakpoint.0.condition.error");
    click("microscope.break");
    EXPECT_EQ(value("breaks.stop"), complaint);
    EXPECT_GT(position(), 0) << "it stands where the condition was asked";
    type("breakpoint.0.condition", "");
    type("breakpoint.0.warp", "8");
    EXPECT_EQ(value("breakpoint.0.warp.error"), "'8' is no warp: write 0 to 7, or any.");
    EXPECT_EQ(value("breakpoint.0.warp"), "any");
    type("breaks.line", "1");
    EXPECT_EQ(value("breaks.line.error"), "No instruction of ripple_txty is at line 1.");
    type("breaks.word", "256");
    EXPECT_EQ(value("breaks.word.error"), "There is no word 256: write 0 to 255.");
    click("breaks.space:global");
    type("breaks.word", "0x10");
    EXPECT_EQ(value("breaks.word.error"), "0x10 is outside all buffers of this launch.");
    EXPECT_TRUE(microscope().breaks().watches.empty());
}

TEST_F(BreaksPanelTest, ARightClickWatchesAWord) {
    open_ripple();
    click_word(35, 1);
    EXPECT_EQ(value("watchpoint.0"), "shared word 35");
    click("microscope.break");
    EXPECT_EQ(microscope().stepper().words()[35].writer,
              int(microscope().warp() * 32 + microscope().lane()));
    EXPECT_TRUE(value("breaks.stop")
                    .ends_with(fmt::format(" writes word 35, kernels/ripple.cu:{}.", write_line)))
        << value("breaks.stop");
    const int written = position();
    click("watchpoint.0.on");
    click("watchpoint.0.on:read");
    click("microscope.break");
    EXPECT_GT(position(), written);
    EXPECT_TRUE(value("breaks.stop")
                    .ends_with(fmt::format(" reads word 35, kernels/ripple.cu:{}.", read_line)))
        << value("breaks.stop");
    click("watchpoint.0.remove");
    EXPECT_EQ(view_->widgets().find("watchpoint.0"), nullptr);
    type("breaks.word", "0x23");
    EXPECT_EQ(value("watchpoint.0"), "shared word 35");
    click_word(35, 1);
    EXPECT_EQ(view_->widgets().find("watchpoint.0"), nullptr);
}

TEST_F(BreaksPanelTest, TheNewestGlobalAccessIsWatched) {
    open_ripple();
    click("microscope.end");
    click("warp.0");
    click("breaks.space:global");
    click("breaks.newest");
    EXPECT_TRUE(value("watchpoint.0").starts_with("global word 0x"));
    click("microscope.break_back");
    EXPECT_TRUE(value("breaks.stop").starts_with("Warp 0 writes global word 0x"));
    // Another frame has other addresses.
    microscope().renew(stage_->launch());
    frames(3);
    EXPECT_EQ(value("watchpoint.0.enabled"), "off");
}

TEST_F(BreaksPanelTest, BreakpointsStayInOtherBlocksAndPlayStopsThere) {
    open_ripple();
    click_line(read_line);
    type("microscope.block", "3, 1");
    EXPECT_EQ(line(read_line), "breakpoint");
    microscope().play(true);
    for (int i = 0; i < 2000 && microscope().playing(); ++i) microscope().advance(0.1);
    EXPECT_EQ(microscope().notice(), fmt::format("Warp {} reaches kernels/ripple.cu:{}.",
                                                 microscope().acting_warp(), read_line));
}

TEST_F(BreaksPanelTest, WithoutABreakpointNothingRuns) {
    open_ripple();
    microscope().run_to_break();
    EXPECT_EQ(microscope().stepper().position(), 0U);
    EXPECT_EQ(microscope().notice(),
              "No breakpoint is set: click beside a line's number, or right-click a word.");
    microscope().toggle_breakpoint();
    ASSERT_EQ(microscope().breaks().points.size(), 1U);
    microscope().toggle_breakpoint();
    EXPECT_TRUE(microscope().breaks().points.empty());
}

}  // namespace
}  // namespace warpscope::ui
