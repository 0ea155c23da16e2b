#include "jobs/headless/frame_loop.h"

#include <gtest/gtest.h>

#include <optional>
#include <vector>

namespace warpscope::jobs {
namespace {

using std::chrono::milliseconds;

class ProgressLineTest : public testing::Test {
  protected:
    void start(std::uint64_t frames, double expected_s, int columns = 80) {
        line_.emplace(
            frames, expected_s, columns, [this](const std::string& text) { written_ += text; },
            [this] { return now_; });
    }
    /// The characters that were written since the last call.
    std::string written() { return std::exchange(written_, {}); }

    ProgressLine::Time now_{};
    std::string written_;
    std::optional<ProgressLine> line_;
};

TEST_F(ProgressLineTest, ARunThatEndsSoonShowsNothing) {
    start(3, 0.01);
    now_ += milliseconds(299);
    line_->frames_done(2);
    line_->say("computing the results");
    line_.reset();
    EXPECT_EQ(written(), "");
}

TEST_F(ProgressLineTest, ShowsFramesTheirTimeAndTheTimeThatIsLeft) {
    start(2000, 0);
    now_ += milliseconds(13'140);
    line_->frames_done(1);
    EXPECT_EQ(written(), "\rframe 1/2000 · 13.1 s a frame · about 7 h left");
}

TEST_F(ProgressLineTest, ALongRunSaysAtOnceHowLong) {
    start(2000, 12.6);
    EXPECT_EQ(written(), "\rframe 0/2000 · about 12.6 s a frame · about 7 h in all");
}

TEST_F(ProgressLineTest, IsRewrittenAtMostTenTimesASecond) {
    start(100, 0);
    now_ += milliseconds(300);
    line_->frames_done(10);
    EXPECT_EQ(written(), "\rframe 10/100 · 30 ms a frame · about 2.7 s left");
    now_ += milliseconds(99);
    line_->frames_done(13);
    EXPECT_EQ(written(), "");
    now_ += milliseconds(1);
    line_->frames_done(20);
    EXPECT_EQ(written(), "\rframe 20/100 · 20 ms a frame · about 1.6 s left");
}

TEST_F(ProgressLineTest, AShorterTextCoversALongerOneAndTheEndClearsIt) {
    start(10, 0);
    now_ += milliseconds(1000);
    line_->frames_done(1);
    EXPECT_EQ(written(), "\rframe 1/10 · 1 s a frame · about 9 s left");  // 41 columns
    line_->say("results");
    EXPECT_EQ(written(), "\rresults" + std::string(34, ' '));
    line_.reset();
    EXPECT_EQ(written(), "\r" + std::string(7, ' ') + "\r");
}

TEST_F(ProgressLineTest, TheLastFrameHasNothingLeft) {
    start(2, 0);
    now_ += milliseconds(1000);
    line_->frames_done(2);
    EXPECT_EQ(written(), "\rframe 2/2 · 500 ms a frame");
}

TEST_F(ProgressLineTest, FitsIntoTheTerminal) {
    start(2000, 12.6, 20);
    EXPECT_EQ(written(), "\rframe 0/2000 · abou");
}

TEST_F(ProgressLineTest, NothingIsWrittenWithoutATerminal) {
    ProgressLine line(5, 100, 80, nullptr, [this] { return now_; });
    now_ += milliseconds(5000);
    line.frames_done(1);
    line.say("computing the results");
}

}  // namespace
}  // namespace warpscope::jobs
