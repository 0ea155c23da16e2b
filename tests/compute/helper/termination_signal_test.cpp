#include "compute/helper/termination_signal.h"

#include <gtest/gtest.h>

#include <csignal>
#include <optional>
#include <thread>

namespace warpscope::compute {
namespace {

class TerminationSignalTest : public testing::Test {
  protected:
    // A shell that starts the tests in the background ignores the signal for them.
    TerminationSignalTest() { std::signal(SIGINT, SIG_DFL); }
};

TEST_F(TerminationSignalTest, TheFirstOneIsKeptAndDoesNotEndTheProcess) {
    const TerminationSignal signal;
    EXPECT_EQ(signal.number(), 0);
    std::raise(SIGTERM);
    EXPECT_EQ(signal.number(), SIGTERM);
}

TEST_F(TerminationSignalTest, ASecondOneEndsTheProcessEvenIfItIsAnother) {
    const auto raise_after_interrupt = [](int second) {
        const TerminationSignal signal;
        std::raise(SIGINT);
        std::raise(second);
    };
    EXPECT_EXIT(raise_after_interrupt(SIGINT), testing::KilledBySignal(SIGINT), "");
    EXPECT_EXIT(raise_after_interrupt(SIGTERM), testing::KilledBySignal(SIGTERM), "");
}

TEST_F(TerminationSignalTest, AnIgnoredOneStaysIgnored) {
    std::signal(SIGINT, SIG_IGN);
    {
        const TerminationSignal signal;
        std::raise(SIGINT);
        EXPECT_EQ(signal.number(), 0);
    }
    EXPECT_EQ(std::signal(SIGINT, SIG_DFL), SIG_IGN);
}

TEST_F(TerminationSignalTest, AfterwardsTheDefaultHandlersAreBack) {
    std::optional<TerminationSignal> signal(std::in_place);
    std::raise(SIGINT);
    signal.reset();
    EXPECT_EQ(std::signal(SIGINT, SIG_DFL), SIG_DFL);
    EXPECT_EQ(std::signal(SIGTERM, SIG_DFL), SIG_DFL);
    const TerminationSignal next;
    EXPECT_EQ(next.number(), 0) << "it does not know the signal before";
}

TEST_F(TerminationSignalTest, AWaitEndsWithASignalOrWithAStop) {
    const TerminationSignal signal;
    {
        // The thread is asked to stop when it is destroyed.
        const std::jthread stopped([&](const std::stop_token& stop) {
            signal.wait(stop);
            EXPECT_TRUE(stop.stop_requested());
        });
    }
    std::thread woken([&] {
        signal.wait({});
        EXPECT_EQ(signal.number(), SIGTERM);
    });
    std::raise(SIGTERM);
    woken.join();
}

TEST_F(TerminationSignalTest, EndByEndsTheProcessWhereTheSignalIsHandledAndBlocked) {
    const auto end = [] {
        const TerminationSignal signal;
        sigset_t set;
        sigemptyset(&set);
        sigaddset(&set, SIGTERM);
        sigprocmask(SIG_BLOCK, &set, nullptr);
        end_by(SIGTERM);
    };
    EXPECT_EXIT(end(), testing::KilledBySignal(SIGTERM), "");
}

}  // namespace
}  // namespace warpscope::compute
