#include "ui/dock/finding_card.h"

#include <fmt/format.h>

#include "ui/view_fixture.h"

namespace warpscope::ui {
namespace {

using emulator::Finding;
using emulator::Hazard;
using What = CardPress::What;

/// A race of a write at line 50 by thread 1, and a read at line 54 by thread 2.
Finding race(Hazard hazard) {
    Finding finding;
    finding.hazard = hazard;
    finding.first = {.file = "a.cu", .line = 50, .thread = {1, 0, 0}};
    finding.second = {.file = "a.cu", .line = 54, .thread = {2, 0, 0}};
    return finding;
}

TEST(OfOneSide, IsAboutThatThreadAndSaysWhetherItReads) {
    const Finding raw = race(Hazard::read_after_write), war = race(Hazard::write_after_read);
    EXPECT_EQ(of_one_side(raw, What::first).place().line, 50);
    EXPECT_EQ(of_one_side(raw, What::first).hazard, Hazard::write_after_write) << "it writes";
    EXPECT_EQ(of_one_side(raw, What::second).place().line, 54);
    EXPECT_EQ(of_one_side(raw, What::second).hazard, Hazard::none) << "it reads";
    EXPECT_EQ(of_one_side(war, What::first).hazard, Hazard::none);
    EXPECT_EQ(of_one_side(war, What::second).place().thread.x, 2U);
    EXPECT_EQ(of_one_side(war, What::second).hazard, Hazard::write_after_write);
    EXPECT_EQ(of_one_side(raw, What::place).place().line, 54) << "the read of a race";
    EXPECT_EQ(of_one_side(war, What::place).place().line, 50);
}

TEST(MarkOfAFinding, TellsItsHarmByAShape) {
    Finding finding = race(Hazard::write_after_write);
    finding.severity = emulator::Severity::error;
    EXPECT_EQ(mark_of(finding), Mark::octagon);
    finding.severity = emulator::Severity::warning;
    EXPECT_EQ(mark_of(finding), Mark::triangle);
    finding.severity = emulator::Severity::note;
    EXPECT_EQ(mark_of(finding), Mark::ring);
}

class FindingCardTest : public ViewFixture {
  protected:
    void show_findings() {
        show("ripple", {{"size", "64"}, {"sync", "off"}});
        click("race");
        frames(4);
    }
    const Finding& finding() { return stage_->checks().inspection->verdict.findings.at(0); }
};

TEST_F(FindingCardTest, HasTheTwoLinesAndAThreadEach) {
    show_findings();
    ASSERT_TRUE(finding().second);
    EXPECT_EQ(value("finding.0.first"), "thread " + name_of(finding().first.thread));
    EXPECT_EQ(value("finding.0.second"), "thread " + name_of(finding().second->thread));
    EXPECT_EQ(value("finding.0.sentence"), "folded");
    const double folded = view_->widgets().find("finding.0")->h;
    click("finding.0.sentence");
    EXPECT_EQ(value("finding.0.sentence"), "open");
    EXPECT_GT(view_->widgets().find("finding.0")->h, folded);
    EXPECT_FALSE(view_->microscope().is_open());
    click("finding.0.sentence");
    EXPECT_EQ(view_->widgets().find("finding.0")->h, folded);
}

TEST_F(FindingCardTest, AThreadOfItOpensInTheMicroscopeWithTheFindingAboveTheSource) {
    for (const char* side : {"finding.0.first", "finding.0.second"}) {
        SCOPED_TRACE(side);
        show_findings();
        const bool is_first = side == std::string("finding.0.first");
        const emulator::ThreadAtLine at = is_first ? finding().first : *finding().second;
        const std::uint64_t word = *finding().byte / 4;
        click(side);
        ASSERT_TRUE(view_->microscope().ready());
        EXPECT_EQ(view_->microscope().thread(), at.thread);
        const unsigned lane = at.thread.y % 2 * 16 + at.thread.x;  // a row of a block has 16
        EXPECT_EQ(value("microscope.finding"),
                  fmt::format("thread {} · warp {} · lane {} {} word {}", name_of(at.thread),
                              at.thread.y / 2, lane, is_first ? "writes" : "reads", word));
        EXPECT_EQ(value("tile.finding"), std::to_string(word));
        EXPECT_EQ(value("dock.timeline"), "on");
        click("microscope.finding.close");
        EXPECT_EQ(view_->widgets().find("microscope.finding"), nullptr);
        EXPECT_EQ(view_->widgets().find("tile.finding"), nullptr);
    }
}

TEST_F(FindingCardTest, WithoutAFindingTheBarrierCanBeSwitchedOffThere) {
    show("ripple", {{"size", "64"}});
    click("race");
    frames(4);
    click("findings.switch");
    settle();
    EXPECT_EQ(stage_->parameters().find("sync").text(), "off");
    EXPECT_EQ(view_->widgets().find("findings.switch"), nullptr);
    EXPECT_NE(view_->widgets().find("finding.0"), nullptr);
}

TEST_F(FindingCardTest, SomebodyNewIsInvitedToTearThePictureAndToAskWhy) {
    show("ripple", {{"size", "64"}});
    EXPECT_EQ(view_->widgets().find("invitation"), nullptr) << "nobody is new";
    view_->options().invited = Invited::to_nothing;
    frames(2);
    EXPECT_EQ(value("invitation"), "What does __syncthreads() do?");
    click("invitation.accept");
    settle();
    EXPECT_EQ(stage_->parameters().find("sync").text(), "off");
    EXPECT_EQ(value("invitation"), "Without __syncthreads(), pixels are wrong.");
    click("invitation.accept");
    for (int i = 0; i < 100'000 && !view_->microscope().reason(); ++i) frames(1);
    ASSERT_TRUE(view_->microscope().reason());
    view_->microscope().close();
    frames(3);
    EXPECT_EQ(view_->widgets().find("invitation"), nullptr);
}

TEST_F(FindingCardTest, SomebodyNewWhoSeesATornPictureIsInvitedToHealIt) {
    show("ripple", {{"size", "64"}, {"sync", "off"}});
    view_->options().invited = Invited::to_switch_on;
    frames(2);
    EXPECT_EQ(value("invitation"), "Without __syncthreads(), pixels are wrong.");
    click("invitation.accept");
    settle();
    EXPECT_EQ(stage_->parameters().find("sync").text(), "on");
    EXPECT_EQ(value("invitation"), "What does __syncthreads() do?");
}

}  // namespace
}  // namespace warpscope::ui
