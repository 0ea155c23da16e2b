#include "ui/microscope/block_run.h"

#include <gtest/gtest.h>

#include <optional>
#include <thread>

#include "emulator/stepper/stepped_kernel.h"

namespace warpscope::ui {
namespace {

using emulator::Stepper;
using Where = BlockRun::Where;

/// Block 0 of this kernel does not end where n is 0; every other block ends.
std::string waiting_kernel() {
    return emulator::kernel_text(R"(
mov.u32 %r2, %ctaid.x;
or.b32 %r3, %r2, %r0;
AGAIN:
setp.eq.u32 %p0, %r3, 0;
@%p0 bra AGAIN;
st.shared.u32 [cell], %r1;
st.global.u32 [%rd1], %r1;)",
                                 ".shared .align 4 .b8 cell[4];");
}

/// Two blocks of the kernel on one virtual SM, which runs block 0 before it opens block 1.
class BlockRunTest : public testing::Test {
  protected:
    void open(std::uint32_t block, std::uint32_t n, Where where, std::uint64_t step = 0) {
        run_.close();
        kernel_.emplace(waiting_kernel(), emulator::LaunchShape{{2, 1, 1}, {32, 1, 1}, 0},
                        emulator::LaunchSettings(), n);
        run_.open(kernel_->machine, kernel_->frozen, block, step, where);
    }
    void wait() {
        while (run_.works() && !run_.finish()) std::this_thread::yield();
    }

    std::optional<emulator::SteppedKernel> kernel_;
    BlockRun run_;  // destroyed first
};

TEST_F(BlockRunTest, KnowsTheWholeRunOfAShortBlock) {
    for (const Where where : {Where::here, Where::elsewhere}) {
        open(1, 1, where);
        EXPECT_TRUE(where == Where::elsewhere || !run_.works());
        wait();
        ASSERT_TRUE(run_.ready()) << run_.complaint();
        EXPECT_EQ(run_.stepper().position(), 0U);
        EXPECT_EQ(run_.stepper().history().size(), 8U);  // mul, add, or, setp, bra, two st, ret
        EXPECT_TRUE(run_.complete());
    }
}

TEST_F(BlockRunTest, OpensABlockAtAStepOfIt) {
    open(1, 1, Where::here, 5);
    EXPECT_EQ(run_.stepper().position(), 5U);
    open(1, 1, Where::here, 100);
    EXPECT_EQ(run_.stepper().position(), 8U) << "its end";
}

TEST_F(BlockRunTest, ABlockBehindOneThatDoesNotEndIsNotOpenedOnceCancelled) {
    open(1, 0, Where::elsewhere);
    EXPECT_TRUE(run_.works());
    EXPECT_FALSE(run_.ready());
    EXPECT_EQ(run_.progress().blocks, 1U);
    EXPECT_EQ(run_.progress().done, 0U);
    run_.cancel();
    wait();
    EXPECT_FALSE(run_.ready());
    EXPECT_EQ(run_.complaint(), "Opening the block was cancelled.");
    open(1, 1, Where::elsewhere);
    wait();
    EXPECT_TRUE(run_.ready()) << "the next block is opened";
}

TEST_F(BlockRunTest, AChangeThatDoesNotEndKeepsItsStepsOnceCancelled) {
    open(0, 0, Where::elsewhere);
    wait();
    ASSERT_TRUE(run_.ready());
    EXPECT_FALSE(run_.complete());
    run_.change([](Stepper& stepper) {
        stepper.step_barrier();
        return std::string("over");
    });
    EXPECT_TRUE(run_.works());
    run_.cancel();
    wait();
    ASSERT_TRUE(run_.ready());
    EXPECT_EQ(run_.notice(), "over");
    const std::uint64_t position = run_.stepper().position();
    EXPECT_GT(position, 0U);
    run_.change([](Stepper& stepper) {
        stepper.back();
        return std::string();
    });
    wait();
    EXPECT_EQ(run_.stepper().position(), position - 1);
    EXPECT_EQ(run_.notice(), "");
}

TEST_F(BlockRunTest, TheErrorOfAChangeIsItsNotice) {
    open(1, 1, Where::here);
    run_.change([](Stepper&) -> std::string { throw std::runtime_error("no memory"); });
    ASSERT_TRUE(run_.ready());
    EXPECT_EQ(run_.notice(), "no memory");
}

TEST_F(BlockRunTest, ClosingEndsTheWork) {
    open(1, 0, Where::elsewhere);
    run_.close();
    EXPECT_FALSE(run_.works());
    EXPECT_FALSE(run_.ready());
    EXPECT_EQ(run_.complaint(), "");
}

}  // namespace
}  // namespace warpscope::ui
