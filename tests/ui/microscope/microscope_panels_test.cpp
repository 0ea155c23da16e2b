#include <fmt/format.h>

#include "ui/view_fixture.h"

namespace warpscope::ui {
namespace {

/// The microscope's panels over a ripple of 64x64 pixels, 4x4 blocks.
class MicroscopePanelsTest : public ViewFixture {
  protected:
    void open_ripple(bool sync) {
        show("ripple", {{"size", "64"}, {"sync", sync ? "on" : "off"}});
        click("transport.microscope");
    }
    int position() { return std::stoi(value("microscope.position")); }
    /// Clicks the picture's pixel (x, y).
    void click_pixel(double x, double y, int button) {
        const Widget* picture = view_->widgets().find("picture.pixels");
        ASSERT_NE(picture, nullptr);
        press(float(picture->x + (x + 0.5) * picture->w / 64),
              float(picture->y + (y + 0.5) * picture->h / 64), button);
    }
};

// Two stages: full barriers of one arrival, then empty ones of 256. At the
// end of the block each waits for all arrivals of its next phase.
TEST_F(MicroscopePanelsTest, DrawsTheRingOfAPipelinesBarriers) {
    show("pipeline", {{"size", "256"}, {"copies", "bulk"}, {"stages", "2"}});
    click("transport.microscope");
    EXPECT_EQ(view_->widgets().find("tile.mbarrier.0"), nullptr);
    click("microscope.end");
    EXPECT_TRUE(value("tile.mbarrier.0").ends_with("1 of 1 arrivals left"));
    EXPECT_TRUE(value("tile.mbarrier.3").ends_with("256 of 256 arrivals left"));
    EXPECT_EQ(view_->widgets().find("tile.mbarrier.4"), nullptr);
}

TEST_F(MicroscopePanelsTest, DrawsCopiesAsBarsAndWordsInWhichTheyHaveLanded) {
    show("pipeline", {{"size", "256"}, {"copies", "bulk"}, {"stages", "2"}});
    click("transport.microscope");
    click("dock.timeline");
    EXPECT_NE(value("timeline.copies"), "0");
    EXPECT_EQ(view_->widgets().find("tile.corners"), nullptr);
    click("microscope.end");
    EXPECT_EQ(value("tile.corners"), "corner below: a copy has landed");
}

TEST_F(MicroscopePanelsTest, ABlockOfTheClusterIsChosenByItsRank) {
    show("ripple", {{"size", "64"}, {"layout", "cluster"}});
    click("transport.microscope");
    EXPECT_EQ(value("microscope.block"), "2, 2");
    EXPECT_EQ(value("tile.block:1"),
              "block 1 of the cluster, (3, 2, 0) of the grid: 256 of 256 words free, 0 in flight, "
              "0 written, 0 read since");
    EXPECT_EQ(view_->widgets().find("tile.block:0"), nullptr) << "the stepped block";
    click("tile.block:1");
    EXPECT_EQ(value("microscope.block"), "3, 2");
    click("dock.timeline");
    EXPECT_EQ(value("timeline.marks"), "2") << "both phases of the barrier of the cluster";
    click("microscope.end");
    EXPECT_EQ(value("microscope.ending"), "The block has finished.");
    EXPECT_TRUE(value("tile.block:0")
                    .ends_with("0 of 256 words free, 0 in flight, 0 written, 256 "
                               "read since"))
        << value("tile.block:0");
    show("ripple", {{"size", "64"}});
    EXPECT_EQ(view_->widgets().find("tile.block:1"), nullptr) << "a block that runs alone";
}

TEST_F(MicroscopePanelsTest, OpensAtThePicturesCentreAndPausesAndCloses) {
    show("ripple", {{"size", "64"}});
    stage_->pause(false);
    frames(2);
    EXPECT_EQ(view_->widgets().find("microscope.position"), nullptr);
    click("transport.microscope");
    EXPECT_TRUE(stage_->paused());
    EXPECT_EQ(value("transport.microscope"), "on");
    EXPECT_EQ(value("microscope.position"), "0");
    EXPECT_EQ(value("microscope.kernel"), "ripple_txty");
    EXPECT_EQ(value("microscope.block"), "2, 2");
    EXPECT_EQ(value("picture.block"), "2, 2");
    EXPECT_EQ(value("source"), "kernels/ripple.cu");
    EXPECT_EQ(view_->widgets().find("result.wrong_pixels"), nullptr);
    click("microscope.close");
    EXPECT_EQ(view_->widgets().find("microscope.position"), nullptr);
    EXPECT_EQ(view_->widgets().find("picture.block"), nullptr);
    EXPECT_NE(view_->widgets().find("result.wrong_pixels"), nullptr);
}

TEST_F(MicroscopePanelsTest, ARightClickOpensAtThePixelAndAClickMovesThere) {
    show("ripple", {{"size", "64"}});
    click_pixel(18, 40, 1);
    EXPECT_EQ(value("microscope.block"), "1, 2");
    EXPECT_EQ(value("picture.thread"), "2, 8");
    EXPECT_EQ(view_->microscope().warp(), 4U);
    click_pixel(63, 0, 0);
    EXPECT_EQ(value("microscope.block"), "3, 0");
    EXPECT_EQ(value("picture.thread"), "15, 0");
    EXPECT_EQ(view_->microscope().warp(), 0U);
}

TEST_F(MicroscopePanelsTest, ButtonsStepAndGoBack) {
    open_ripple(true);
    EXPECT_FALSE(enabled("microscope.back"));
    click("microscope.step");
    EXPECT_EQ(position(), 1);
    click("microscope.line");
    EXPECT_GT(position(), 1);
    click("microscope.back");
    click("microscope.restart");
    EXPECT_EQ(position(), 0);
    click("microscope.barrier");
    EXPECT_EQ(value("microscope.epoch"), "1");
    click("microscope.end");
    EXPECT_EQ(value("microscope.end"), "");
    EXPECT_FALSE(enabled("microscope.step"));
    EXPECT_EQ(value("microscope.ending"), "The block has finished.");
    for (int w = 0; w < 8; ++w) EXPECT_EQ(value(fmt::format("warp.{}", w)), "has ended");
}

TEST_F(MicroscopePanelsTest, ThePtxOpensAtTheNextInstruction) {
    open_ripple(true);
    click("microscope.end");
    click("microscope.back");
    const std::string last = fmt::format("ptx.warp.{}", view_->microscope().acting_warp());
    click("microscope.ptx");
    ASSERT_NE(view_->widgets().find(last), nullptr);
    EXPECT_TRUE(view_->widgets().find(last)->visible);
    // The text is longer than the pane: from its head, the last instruction is not in sight.
    const auto rows = view_->widgets().find("ptx")->h / 16;
    EXPECT_GT(std::stoi(value(last)), int(rows));
}

TEST_F(MicroscopePanelsTest, WarpRowsSayWhereTheWarpWaits) {
    open_ripple(true);
    // To just before the barrier lets them go.
    click("microscope.barrier");
    click("microscope.back");
    int waiting = 0;
    for (int w = 0; w < 8; ++w)
        waiting += value(fmt::format("warp.{}", w)).starts_with("waits at the barrier, line ");
    EXPECT_EQ(waiting, 7);
    // Each chip stands at the line that the warp's words name.
    for (int w = 0; w < 8; ++w) {
        const std::string words = value(fmt::format("warp.{}", w));
        EXPECT_TRUE(words.ends_with("line " + value(fmt::format("source.warp.{}", w)))) << words;
    }
}

TEST_F(MicroscopePanelsTest, WarpsArePickedAndSteppedByHand) {
    open_ripple(true);
    click("warp.6.step");
    EXPECT_EQ(position(), 1);
    EXPECT_EQ(view_->microscope().stepper().history()[0].warp, 6);
    click("warp.3");
    EXPECT_EQ(view_->microscope().warp(), 3U);
    click("microscope.turns");
    click("microscope.turns:by-hand");
    EXPECT_EQ(value("microscope.turns"), "by-hand");
    EXPECT_EQ(view_->widgets().find("microscope.seed"), nullptr);
    click("microscope.step");
    EXPECT_EQ(view_->microscope().stepper().history()[1].warp, 3);
    click("source.warp.7");
    EXPECT_EQ(view_->microscope().warp(), 7U);
    // A click on the bar of lanes picks one.
    const Widget lanes = *view_->widgets().find("warp.1.lanes");
    press(float(lanes.x + lanes.w * 20.5 / 32), float(lanes.y + lanes.h / 2));
    EXPECT_EQ(view_->microscope().warp(), 1U);
    EXPECT_EQ(view_->microscope().lane(), 20U);
    EXPECT_EQ(value("picture.thread"), "4, 3");  // 52 = 3 * 16 + 4
}

TEST_F(MicroscopePanelsTest, TypedBlocksAreOpenedAndBadOnesGiveAMessage) {
    open_ripple(true);
    type("microscope.block", "3, 1");
    EXPECT_EQ(value("picture.block"), "3, 1");
    type("microscope.block", "9, 9");
    EXPECT_EQ(value("message"), "There is no block (9, 9): the grid has 4 × 4 blocks.");
    EXPECT_EQ(value("microscope.block"), "3, 1");
}

TEST_F(MicroscopePanelsTest, ScheduleAndSeedLeaveTheExperimentsAlone) {
    open_ripple(true);
    type("microscope.seed", "5");
    EXPECT_EQ(view_->microscope().choice().seed, 5U);
    EXPECT_EQ(stage_->engine().device().settings().seed, 1U);
    click("microscope.turns");
    click("microscope.turns:reverse");
    click("microscope.step");
    EXPECT_EQ(view_->microscope().stepper().history()[0].warp, 7);
    EXPECT_EQ(value("microscope.barriers"), "volta");
    click("microscope.barriers");
    click("microscope.barriers:strict");
    EXPECT_EQ(view_->microscope().choice().barriers, compute::BarrierPolicy::strict);
    EXPECT_EQ(position(), 0);
}

TEST_F(MicroscopePanelsTest, PtxIsShownBesideTheSource) {
    open_ripple(true);
    EXPECT_EQ(view_->widgets().find("ptx"), nullptr);
    click("microscope.ptx");
    const Widget *source = view_->widgets().find("source"), *ptx = view_->widgets().find("ptx");
    ASSERT_NE(ptx, nullptr);
    EXPECT_LE(source->x + source->w, ptx->x);
    EXPECT_NE(view_->widgets().find("ptx.warp.0"), nullptr);
    // What is stepped is in sight.
    for (int i = 0; i < 40; ++i) {
        click("microscope.step");
        const std::string acting = fmt::format("ptx.warp.{}", view_->microscope().acting_warp());
        EXPECT_TRUE(view_->widgets().find(acting)->visible) << i;
    }
}

TEST_F(MicroscopePanelsTest, ShowsTheRegistersOfThePickedLane) {
    open_ripple(true);
    click("dock.registers");
    const unsigned warp = view_->microscope().acting_warp();
    click(fmt::format("warp.{}", warp));
    // The thread's column, tid.x, is among the first that the kernel reads.
    for (int i = 0; i < 12; ++i) click(fmt::format("warp.{}.step", warp));
    const std::string column = std::to_string(view_->microscope().thread().x);
    int registers = 0;
    bool found = false;
    for (const Widget& widget : view_->widgets().widgets()) {
        if (!widget.id.starts_with("register.")) continue;
        ++registers;
        found |= widget.value == column;
    }
    EXPECT_GE(registers, 4);
    EXPECT_TRUE(found);
}

TEST_F(MicroscopePanelsTest, KeepsItsFrameUntilItIsRenewed) {
    open_ripple(true);
    click("transport.pause");
    frames(3);
    EXPECT_EQ(value("microscope.frame"), "0");
    click("transport.pause");
    // Paused again, the frame on show is the one that is looked at.
    EXPECT_EQ(value("microscope.frame"), value("transport.frame"));
    click("transport.pause");
    frames(2);
    const std::string before = value("microscope.frame");
    click("microscope.renew");
    EXPECT_NE(value("microscope.frame"), before);
}

TEST_F(MicroscopePanelsTest, ExperimentsWithoutPixelsOpenAtTheirFirstBlock) {
    show("dot", {});
    click("transport.microscope");
    EXPECT_EQ(value("microscope.block"), "0");
    EXPECT_EQ(value("source"), "kernels/dot.cu");
    EXPECT_EQ(view_->widgets().find("picture.block"), nullptr);
    type("microscope.block", "7");
    EXPECT_EQ(view_->microscope().stepper().block(), 7U);
}

TEST_F(MicroscopePanelsTest, EveryPanelIsInsideItsBox) {
    open_ripple(false);
    click("microscope.end");
    const auto inside = [&](const std::string& id, const Box& box) {
        const Widget* w = view_->widgets().find(id);
        ASSERT_NE(w, nullptr) << id;
        EXPECT_TRUE(w->visible) << id;
        EXPECT_GE(w->x, double(box.x)) << id;
        EXPECT_LE(w->x + w->w, double(box.x + box.width) + 0.5) << id;
        EXPECT_LE(w->y + w->h, double(box.y + box.height) + 0.5) << id;
    };
    for (const char* id : {"microscope.restart", "microscope.end", "microscope.position",
                           "microscope.turns", "microscope.seed", "microscope.close"})
        inside(id, view_->layout().microscope);
    const Widget *seed = view_->widgets().find("microscope.seed"),
                 *close = view_->widgets().find("microscope.close");
    EXPECT_LT(seed->x + seed->w, close->x);
    for (const char* id : {"microscope.kernel", "microscope.block", "microscope.ptx", "source"})
        inside(id, view_->layout().source);
    for (int w = 0; w < 8; ++w) {
        inside(fmt::format("warp.{}", w), view_->layout().warps);
        inside(fmt::format("warp.{}.step", w), view_->layout().warps);
    }
    inside("tile", view_->layout().tile);
}

}  // namespace
}  // namespace warpscope::ui
