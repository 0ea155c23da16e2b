#include "emulator/ptx_fixture.h"

namespace warpscope::emulator {
namespace {

// %clock counts the instructions that the block has run.

TEST(Clock, CountsEveryInstructionBetweenTwoReads) {
    Runner r(kernel_text(R"(
mov.u32 %r2, %clock;
add.u32 %r4, %r1, 1; add.u32 %r4, %r4, 1; add.u32 %r4, %r4, 1;
mov.u32 %r3, %clock;
sub.u32 %r5, %r3, %r2;
st.global.u32 [%rd1], %r5;)"));
    EXPECT_EQ(r.run(one_block(32))[0], 4u) << "three additions, and the first read itself";
}

TEST(Clock, StartsAtZeroInEachBlock) {
    Runner r(kernel_text(R"(
mov.u32 %r2, %clock;
mov.u32 %r3, %ctaid.x; mul.wide.u32 %rd2, %r3, 4; add.s64 %rd2, %rd0, %rd2;
st.global.u32 [%rd2], %r2;)"));
    r.settings.threads = 1;
    EXPECT_EQ(r.run({{3, 1, 1}, {1, 1, 1}, 0}), (std::vector<std::uint32_t>{5, 5, 5}))
        << "the five instructions that stand before the body";
}

// Lanes diverge and reconverge within one turn: the clock counts the instructions of all of them.
TEST(Clock, CountsAcrossDivergenceAndReconvergence) {
    Runner r(kernel_text(R"(
mov.u32 %r2, %clock;
setp.lt.u32 %p0, %r1, 7;
@%p0 bra few;
add.u32 %r4, %r1, 1; add.u32 %r4, %r4, 1;
few:
mov.u32 %r3, %clock;
sub.u32 %r5, %r3, %r2;
st.global.u32 [%rd1], %r5;)"));
    r.settings.schedule = Schedule::run_to_barrier;
    const auto passed = r.run(one_block(32));
    EXPECT_EQ(passed[0], 5u) << "the read, setp, bra and two additions, whoever ran them";
    EXPECT_EQ(passed[31], 5u);
}

// Warp 1 loops until the clock has advanced by n. The other warps arrive at the barrier at once.
const std::string late_warp = kernel_text(R"(
shr.u32 %r10, %r1, 5;
mov.u32 %r2, %clock;
setp.ne.u32 %p0, %r10, 1;
@%p0 bra arrive;
spin:
mov.u32 %r3, %clock;
sub.u32 %r4, %r3, %r2;
setp.lt.u32 %p1, %r4, %r0;
@%p1 bra spin;
arrive:
mov.u32 %r5, %clock;
bar.sync 0;
mov.u32 %r6, %clock;
sub.u32 %r7, %r6, %r5;
st.global.u32 [%rd1], %r7;)");

TEST(Clock, ALoopThatWaitsForTheClockEndsUnderEverySchedule) {
    for (const Schedule schedule :
         {Schedule::run_to_barrier, Schedule::reverse, Schedule::random}) {
        Runner r(late_warp);
        r.settings.schedule = schedule;
        r.settings.instruction_budget = 1'000'000;
        const auto waited = r.run(one_block(128), 300'000);
        EXPECT_LT(waited[32], 500u);
        if (schedule == Schedule::run_to_barrier) {
            // The delay is longer than the longest turn, so warps 2 and 3 arrive during it.
            EXPECT_GE(waited[0], 300'000u) << "it came before warp 1 began";
            EXPECT_GT(waited[64], 30'000u);
        } else if (schedule == Schedule::reverse) {
            EXPECT_GE(waited[64], 300'000u);
            EXPECT_LT(waited[64], 300'100u);
        }
    }
}

}  // namespace
}  // namespace warpscope::emulator
