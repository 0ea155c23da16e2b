#include "ui/bars/messages.h"

#include <gtest/gtest.h>

#include "ui/view_fixture.h"

namespace warpscope::ui {
namespace {

TEST(WorkChipTest, SaysNothingOfShortWork) {
    EXPECT_EQ(work_words(Activity::frame, 3, 0.29, {1, 5, 10}), "");
}

TEST(WorkChipTest, EstimatesTheTimeThatIsLeftFromTheBlocks) {
    // 41 of 100 blocks took 8.2 s, so each takes 0.2 s, and 59 are left: 11.8 s.
    EXPECT_EQ(work_words(Activity::frame, 3, 8.2, {1, 41, 100}),
              "Frame 3 · 41 % of the blocks · about 12 s left");
    // 1 of 10 in 60 s: 540 s are left.
    EXPECT_EQ(work_words(Activity::frame, 1, 60, {1, 1, 10}),
              "Frame 1 · 10 % of the blocks · about 9 min left");
    // 5 of 100 in 600 s: 11 400 s are left.
    EXPECT_EQ(work_words(Activity::frame, 1, 600, {1, 5, 100}),
              "Frame 1 · 5 % of the blocks · about 3 h left");
}

TEST(WorkChipTest, EstimatesNothingFromTooFewBlocksOrFromAGpu) {
    EXPECT_EQ(work_words(Activity::frame, 2, 1.2, {1, 1, 100}),
              "Frame 2 · 1 % of the blocks · 2 s so far");
    EXPECT_EQ(work_words(Activity::frame, 2, 1.2, {1, 0, 0}), "Frame 2 · 2 s so far");
    EXPECT_EQ(work_words(Activity::frame, 2, 1.2, {1, 7, 7}),
              "Frame 2 · 100 % of the blocks · 2 s so far");
}

TEST(WorkChipTest, CountsDownOverAllLaunchesOfAFrame) {
    EXPECT_EQ(work_words(Activity::frame, 3, 2, {1, 7, 7}, 8), "Frame 3 · 25 % · about 6 s left");
    EXPECT_EQ(work_words(Activity::frame, 3, 4, {2, 1, 7}, 8), "Frame 3 · 50 % · about 4 s left");
    EXPECT_EQ(work_words(Activity::frame, 3, 9, {2, 6, 7}, 8), "Frame 3 · 9 s so far");
}

TEST(WorkChipTest, NamesComparisonsWhichHaveNoSingleLaunch) {
    EXPECT_EQ(work_words(Activity::report, 4, 6.1, {9, 7, 7}),
              "Computing the results · 7 s so far");
    EXPECT_EQ(work_words(Activity::comparison, 4, 100, {9, 1, 7}),
              "Comparing the variants · 2 min so far");
}

TEST(WorkChipTest, NamesTheCompilationOfKernelsBeforeAllElse) {
    for (const Activity activity : {Activity::start, Activity::frame, Activity::comparison}) {
        EXPECT_EQ(work_words(activity, 1, 0.29, {0, 0, 0, true}), "");
        EXPECT_EQ(work_words(activity, 1, 1.2, {0, 0, 0, true}), "Compiling kernels · 2 s so far");
    }
    EXPECT_EQ(work_words(Activity::start, 1, 1.2, {}), "Starting · 2 s so far");
}

class StartTest : public ViewFixture {};

TEST_F(StartTest, ItsWordsStandInTheMiddleOfTheWindow) {
    Ui ui(1.F, 1.F);
    gui_.begin_frame(int(width), int(height));
    draw_start(ui, "Compiling kernels · 2 s so far");
    framebuffer_.bind();
    gui_.render(int(width), int(height));
    const Widget* words = ui.widgets.find("work");
    ASSERT_NE(words, nullptr);
    EXPECT_EQ(words->value, "Compiling kernels · 2 s so far");
    EXPECT_TRUE(words->visible);
    EXPECT_NEAR(words->x + words->w / 2, width / 2, 1);
    EXPECT_NEAR(words->y + words->h / 2, height / 2, 1);
}

TEST(WorkChipTest, SaysWhatAChangeWouldCost) {
    EXPECT_EQ(cost_words(12.3), "The next frame takes about 13 s on this machine.");
    EXPECT_EQ(cost_words(7200), "The next frame takes about 2 h on this machine.");
}

TEST(WorkChipTest, NamesTheEarlierBlocksThatTheMicroscopeRuns) {
    EXPECT_EQ(block_words(0.29, {1, 3, 12}), "");
    EXPECT_EQ(block_words(1.2, {1, 3, 12}),
              "Running the block · 25 % of the earlier blocks · 2 s so far");
    EXPECT_EQ(block_words(61, {1, 12, 12}), "Running the block · 1 min so far");
    EXPECT_EQ(block_words(1, {}), "Running the block · 1 s so far");
}

}  // namespace
}  // namespace warpscope::ui
