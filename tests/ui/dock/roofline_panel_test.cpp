#include <cstdlib>

#include "compute/ceilings.h"
#include "ui/view_fixture.h"

namespace warpscope::ui {
namespace {

class RooflinePanelTest : public ViewFixture {
  protected:
    void launch(int times) {
        for (int i = 0; i < times; ++i) {
            stage_->step_once();
            frames();
        }
    }
    const compute::Ceilings& ceilings() {
        return *compute::known_ceilings(stage_->engine().device().info());
    }
    compute::CeilingShares shares(const std::string& kernel) {
        return compute::shares_of(*stage_->engine().device().timings().find(kernel), ceilings());
    }
    double number(const std::string& id) { return std::strtod(value(id).c_str(), nullptr); }
};

TEST_F(RooflinePanelTest, MeasuresWhenFirstOpenedAndPlacesTheKernel) {
    show("dot", {{"n", "40000"}});
    launch(3);
    click("dock.roofline");
    ASSERT_NE(compute::known_ceilings(stage_->engine().device().info()), nullptr);
    EXPECT_EQ(view_->widgets().find("roofline.measuring"), nullptr);
    EXPECT_NE(value("roofline").find("1 kernel, ridge at"), std::string::npos) << value("roofline");
    // A product and a sum for 8 bytes: memory's slope is what limits it.
    const compute::CeilingShares dot = shares("dot_book");
    EXPECT_NEAR(number("roofline.kernel.dot_book"), dot.larger(), 1e-3);
    EXPECT_NE(view_->widgets().find("roofline.emulated"), nullptr);
    const Widget point = *view_->widgets().find("roofline.kernel.dot_book");
    const Widget chart = *view_->widgets().find("roofline");
    EXPECT_TRUE(point.visible);
    EXPECT_GT(point.x, chart.x);
    EXPECT_LT(point.y + point.h, chart.y + chart.h);
}

TEST_F(RooflinePanelTest, KernelsWithoutFlopsArePlacedByTheirBytes) {
    show("ripple", {{"size", "64"}, {"sync", "off"}});
    launch(3);
    click("dock.roofline");
    EXPECT_NEAR(number("roofline.bytes.ripple_txty_nosync"),
                shares("ripple_txty_nosync").of_bandwidth, 1e-3);
    EXPECT_EQ(view_->widgets().find("roofline.kernel.ripple_txty_nosync"), nullptr);
    EXPECT_EQ(value("roofline.left_out"), "clear_shared");
    click("dock.timings");
    EXPECT_EQ(value("timing.clear_shared.share"), "0.0000");
}

TEST_F(RooflinePanelTest, TimingsShowShareAndRemark) {
    show("dot", {{"n", "40000"}});
    launch(3);
    click("dock.roofline");
    click("dock.timings");
    EXPECT_NEAR(number("timing.dot_book.share"), shares("dot_book").larger(), 1e-3);
    EXPECT_EQ(
        value("timing.dot_book.note"),
        compute::timing_note(*stage_->engine().device().timings().find("dot_book"), &ceilings()));
    // The emulator has no clocks to show.
    EXPECT_EQ(view_->widgets().find("timings.gpu"), nullptr);
}

}  // namespace
}  // namespace warpscope::ui
