#include <chrono>
#include <memory>

#include "ui/fake_experiment.h"
#include "ui/view_fixture.h"

namespace warpscope::ui {
namespace {

/// The window's view of the fake experiment, where every edit compiles and runs.
class EditsViewTest : public ViewFixture {
  protected:
    EditsViewTest() {
        Stage::Start start;
        start.device_wish = "emulator";
        start.entry = experiments::unowned(fake_entry());
        start.try_edits = [](const experiments::EditRequest& request, const auto&) {
            compute::KernelEdits edits;
            for (const auto& [file, source] : request.sources)
                edits[file] = std::make_shared<compute::KernelEdit>(
                    compute::KernelEdit{file, source, {}, {}, {}});
            experiments::EditResult result;
            result.running.device = std::make_shared<FakeDevice>();
            result.running.device->set_edits(edits);
            result.running.experiment = request.entry->make(*result.running.device);
            result.running.experiment->resume(request.snapshot);
            return result;
        };
        // A millisecond passes whenever somebody reads the time.
        start.clock = [now = std::make_shared<std::chrono::steady_clock::time_point>()] {
            return *now += std::chrono::milliseconds(1);
        };
        stage_ = std::make_unique<Stage>(start);
        stage_->pause(true);
        view_ = std::make_unique<WindowView>(*stage_, ViewOptions(), 1.F, 1.F);
        frames(3);
    }
    /// Frames until the newest text runs.
    void run() {
        frames(2);
        while (stage_->trying()) {
            stage_->wait_for_edits();
            frames();
        }
        frames(2);
    }
    KernelDocument& document() { return stage_->documents()["ripple"]; }
    /// Comments out the only barrier of ripple.cu.
    void take_out() {
        ASSERT_EQ(document().barriers().size(), 1U);
        document().toggle_barriers(document().barriers().front().line);
        run();
    }
    bool on() { return *stage_->parameters().barrier_switch(); }
};

TEST_F(EditsViewTest, TheToggleSaysThatTheBarrierIsTakenOutAndAClickPutsItBack) {
    EXPECT_EQ(value("fake.sync"), "on");
    take_out();
    EXPECT_EQ(value("fake.sync"), "off");
    EXPECT_NE(value("fake.sync.taken_out").find("ripple.cu"), std::string::npos);
    EXPECT_TRUE(on()) << "the parameter itself is unchanged";
    click("fake.sync");
    run();
    EXPECT_EQ(value("fake.sync"), "on");
    EXPECT_EQ(value("fake.sync.taken_out"), "(no such widget)");
    EXPECT_FALSE(document().edited());
}

TEST_F(EditsViewTest, ABarrierThatIsTakenOutAndSwitchedOffComesBackWithOneClick) {
    click("fake.sync");
    ASSERT_FALSE(on());
    take_out();
    click("fake.sync");
    run();
    EXPECT_TRUE(on());
    EXPECT_EQ(value("fake.sync"), "on");
}

TEST_F(EditsViewTest, WhereTheBarrierWasDeletedTheBuiltInTextComesBack) {
    document().replace("extern \"C\" __global__ void ripple_txty() {}\n");
    run();
    ASSERT_EQ(value("fake.sync"), "off");
    click("fake.sync");
    run();
    EXPECT_EQ(value("fake.sync"), "on");
    EXPECT_EQ(document().text(), document().shipped());
}

TEST_F(EditsViewTest, WhileEditedTextRunsABadgeSaysSoAndRevertEndsIt) {
    EXPECT_EQ(value("edited"), "(no such widget)");
    document().replace(document().text() + "// mine\n");
    run();
    EXPECT_EQ(value("edited"), "ripple.cu");
    EXPECT_EQ(value("fake.sync"), "on") << "the barrier is still there";
    click("edited.revert");
    run();
    EXPECT_EQ(value("edited"), "(no such widget)");
    EXPECT_FALSE(document().edited());
    document().undo();
    run();
    EXPECT_EQ(value("edited"), "ripple.cu");
    view_->options().presentation = true;
    frames(2);
    EXPECT_EQ(value("edited"), "ripple.cu") << "an audience is told, too";
    EXPECT_EQ(value("edited.revert"), "(no such widget)");
}

}  // namespace
}  // namespace warpscope::ui
