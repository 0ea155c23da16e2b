#include "compute/helper/helper_wire.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <thread>

#include "compute/helper/helper_process.h"

namespace warpscope::compute {
namespace {

using namespace std::chrono_literals;

/// Two ends of a socket, and a stop that was requested.
class Grace : public testing::Test {
  protected:
    Grace() {
        int ends[2];
        EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
        ours_ = Descriptor(ends[0]);
        theirs_ = Descriptor(ends[1]);
        source_.request_stop();
    }
    void answer() {
        WireWriter frame(HelperAnswer::done);
        send_frame(theirs_.get(), frame);
    }
    Patience patience(std::chrono::milliseconds grace) const {
        return {.stop = source_.get_token(), .grace = grace};
    }
    /// How receive_frame() ends; nullopt: with a frame.
    std::optional<HelperEnd> received(const Patience& patience) {
        try {
            receive_frame(ours_.get(), patience);
            return {};
        } catch (const HelperLost& lost) {
            return lost.how;
        }
    }
    Descriptor ours_, theirs_;
    std::stop_source source_;
};

TEST_F(Grace, AnAnswerWithinTheGraceIsReceivedAfterAStop) {
    std::jthread later([this] { answer(); });
    EXPECT_EQ(received(patience(60s)), std::nullopt);
}

TEST_F(Grace, WithoutAnAnswerTheStopEndsTheWait) {
    EXPECT_EQ(received(patience(0ms)), HelperEnd::stopped);
    EXPECT_EQ(received(patience(1ms)), HelperEnd::stopped);
}

TEST_F(Grace, ItDoesNotExtendTheTimeLimit) {
    Patience short_time = patience(60s);
    short_time.time = 1ms;
    EXPECT_EQ(received(short_time), HelperEnd::stopped);
}

}  // namespace
}  // namespace warpscope::compute
