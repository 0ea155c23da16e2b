#include "emulator/ptx_fixture.h"

namespace warpscope::emulator {
namespace {

TEST(Divergence, NestedIfsRunTheBranchOfEachLane) {
    Runner r(kernel_text(R"(
mov.u32 %r2, 0;
setp.ge.u32 %p1, %r1, 20;
@%p1 bra OUTER_ELSE;
and.b32 %r3, %r1, 1;
setp.eq.s32 %p2, %r3, 0;
@%p2 bra EVEN;
add.s32 %r2, %r1, 100;
bra INNER_END;
EVEN: add.s32 %r2, %r1, 200;
INNER_END: add.s32 %r2, %r2, 1000;
bra END;
OUTER_ELSE: mov.u32 %r2, 7;
END: add.s32 %r2, %r2, 10000;
st.global.u32 [%rd1], %r2;)"));
    const auto out = r.run(one_block(50));
    for (std::uint32_t t = 0; t < 50; ++t)
        EXPECT_EQ(out[t], 10000 + (t >= 20 ? 7 : 1000 + t + (t % 2 ? 100 : 200))) << t;
}

TEST(Divergence, EachLaneRunsItsOwnNumberOfLoopIterations) {
    Runner r(kernel_text(R"(
mov.u32 %r2, 0; mov.u32 %r3, 0;
TOP: setp.ge.u32 %p1, %r2, %r1;
@%p1 bra OUT;
add.s32 %r2, %r2, 1;
add.s32 %r3, %r3, %r2;
bra TOP;
OUT: st.global.u32 [%rd1], %r3;)"));
    const auto out = r.run(one_block(70));
    for (std::uint32_t t = 0; t < 70; ++t) EXPECT_EQ(out[t], t * (t + 1) / 2);
}

TEST(Divergence, BreakAndContinueActOnSingleLanes) {
    // for (i = 0; i < n; ++i) { if (i == tid) break; if (i & 1) continue; sum += i; }
    Runner r(kernel_text(R"(
mov.u32 %r2, 0; mov.u32 %r3, 0;
TOP: setp.ge.u32 %p1, %r2, %r0;
@%p1 bra OUT;
setp.eq.s32 %p2, %r2, %r1;
@%p2 bra OUT;
and.b32 %r4, %r2, 1;
setp.ne.s32 %p3, %r4, 0;
@%p3 bra NEXT;
add.s32 %r3, %r3, %r2;
NEXT: add.s32 %r2, %r2, 1;
bra TOP;
OUT: st.global.u32 [%rd1], %r3;)"));
    const auto out = r.run(one_block(33), 20);
    for (std::uint32_t t = 0; t < 33; ++t) {
        std::uint32_t sum = 0;
        for (std::uint32_t i = 0; i < 20 && i != t; ++i) sum += i % 2 ? 0 : i;
        EXPECT_EQ(out[t], sum) << t;
    }
}

TEST(Divergence, LanesThatReturnEarlyStoreNothing) {
    Runner r(
        kernel_text("setp.ge.u32 %p1, %r1, %r0; @%p1 ret; add.s32 %r2, %r1, 5;"
                    "st.global.u32 [%rd1], %r2;"));
    const auto out = r.run(one_block(64), 37);
    for (std::uint32_t t = 0; t < 64; ++t) EXPECT_EQ(out[t], t < 37 ? t + 5 : 0);
}

TEST(Divergence, ExitInsideANestedRegionReleasesTheJoin) {
    Runner r(kernel_text(R"(
mov.u32 %r2, 1;
setp.lt.u32 %p1, %r1, 8;
@!%p1 bra END;
setp.lt.u32 %p2, %r1, 4;
@%p2 ret;
mov.u32 %r2, 2;
END: st.global.u32 [%rd1], %r2;)"));
    const auto out = r.run(one_block(32));
    for (std::uint32_t t = 0; t < 32; ++t) EXPECT_EQ(out[t], t < 4 ? 0u : t < 8 ? 2u : 1u);
}

TEST(Divergence, GuardedInstructionsLeaveOtherLanesUnchanged) {
    Runner r(
        kernel_text("setp.lt.u32 %p1, %r1, 5; setp.gt.u32 %p2, %r0, 3; mov.u32 %r2, 1;"
                    "@%p1 mov.u32 %r2, 9; @!%p1 add.s32 %r2, %r2, 1; mov.u32 %r3, 10;"
                    "@%p2 mov.u32 %r3, 20; add.s32 %r2, %r2, %r3;"
                    "@%p1 st.global.u32 [%rd1], %r2; @!%p1 st.global.u32 [%rd1], %r0;"));
    const auto small = r.run(one_block(32), 3);
    const auto large = r.run(one_block(32), 4);
    for (std::uint32_t t = 0; t < 32; ++t) {
        EXPECT_EQ(small[t], t < 5 ? 19u : 3u);
        EXPECT_EQ(large[t], t < 5 ? 29u : 4u);
    }
}

TEST(Divergence, ThreadInstructionsCountActiveLanesOnly) {
    Runner r(kernel_text("setp.lt.u32 %p1, %r1, 3; @%p1 bra END; add.s32 %r2, %r1, 1; END: "));
    r.run(one_block(40));
    // Each warp executes the five instructions before the body, setp, bra, add and ret. Only lanes
    // 3 to 31 of the first warp execute the add.
    EXPECT_EQ(r.statistics.warp_instructions, 2u * 9);
    EXPECT_EQ(r.statistics.thread_instructions, 40u * 8 + 37);
}

// The splits of a warp take turns: lane 0 waits for the store of lane 1, which took the other
// branch.
TEST(Divergence, LanesMaySpinUntilOtherLanesOfTheWarpStore) {
    Runner r(kernel_text(R"(
setp.eq.s32 %p1, %r1, 0;
@!%p1 bra OTHER;
WAIT: ld.volatile.global.u32 %r2, [%rd0+4];
setp.eq.s32 %p2, %r2, 0;
@%p2 bra WAIT;
st.global.u32 [%rd0], %r2;
bra END;
OTHER: setp.ne.s32 %p3, %r1, 1;
@%p3 bra END;
st.global.u32 [%rd0+4], 77;
END: )"));
    r.settings.instruction_budget = 10'000'000;
    for (const Schedule s : {Schedule::run_to_barrier, Schedule::reverse, Schedule::random}) {
        r.settings.schedule = s;
        EXPECT_EQ(r.run(one_block(32))[0], 77u);
    }
}

// Every lane takes the lock. The lane that holds it must be able to leave the loop and release it.
TEST(Divergence, LanesOfAWarpCanShareASpinLock) {
    Runner r(kernel_text(R"(
TRY: atom.global.cas.b32 %r2, [lock], 0, 1;
setp.ne.s32 %p1, %r2, 0;
@%p1 bra TRY;
ld.volatile.global.u32 %r3, [%rd0];
add.s32 %r3, %r3, 1;
st.volatile.global.u32 [%rd0], %r3;
membar.gl;
atom.global.exch.b32 %r4, [lock], 0;)",
                         ".global .align 4 .u32 lock;"));
    r.settings.instruction_budget = 10'000'000;
    EXPECT_EQ(r.run(one_block(64))[0], 64u);
}

// %r2 may be read before it is written, so each block clears its 32 lanes of 4 bytes. The registers
// after it, and those of the next warp, must not change.
TEST(Divergence, ClearingARegisterLeavesItsNeighboursUnchanged) {
    Runner r(
        kernel_text("setp.lt.u32 %p1, %r1, 7; @%p1 mov.u32 %r2, %laneid;"
                    "add.s32 %r3, %r1, %r2; st.global.u32 [%rd1], %r3;"));
    const auto out = r.run(one_block(96));
    for (std::uint32_t t = 0; t < 96; ++t) EXPECT_EQ(out[t], t < 7 ? 2 * t : t);
}

}  // namespace
}  // namespace warpscope::emulator
