#include <numeric>

#include "emulator/ptx_fixture.h"

namespace warpscope::emulator {
namespace {

// A tree reduction that adds 0…255. If `divergent`, its barrier is inside the divergent if.
std::string tree(bool divergent) {
    const std::string inside = divergent ? "bar.sync 0;" : "";
    const std::string outside = divergent ? "" : "bar.sync 0;";
    return kernel_text(R"(
shl.b32 %r2, %r1, 2; mov.u32 %r3, cell; add.s32 %r3, %r3, %r2;
st.shared.u32 [%r3], %r1;
bar.sync 0;
mov.u32 %r4, 128;
TOP: setp.ge.u32 %p1, %r1, %r4;
@%p1 bra SKIP;
shl.b32 %r5, %r4, 2; add.s32 %r5, %r5, %r3;
ld.shared.u32 %r6, [%r5]; ld.shared.u32 %r7, [%r3]; add.s32 %r6, %r6, %r7;
st.shared.u32 [%r3], %r6;
)" + inside + R"(
SKIP:
)" + outside + R"(
shr.u32 %r4, %r4, 1;
setp.ne.s32 %p2, %r4, 0;
@%p2 bra TOP;
setp.ne.s32 %p3, %r1, 0;
@%p3 bra END;
ld.shared.u32 %r8, [cell];
st.global.u32 [%rd0], %r8;
END:)",
                       shared_words);
}

TEST(Barrier, TreeReductionGivesTheSumUnderEverySchedule) {
    Runner r(tree(false));
    for (const Schedule s : {Schedule::run_to_barrier, Schedule::reverse, Schedule::random})
        for (std::uint64_t seed = 0; seed < 20; ++seed) {
            r.settings.schedule = s;
            r.settings.seed = seed;
            EXPECT_EQ(r.run(one_block(256))[0], 255u * 256 / 2);
            EXPECT_EQ(r.statistics.barriers, 9u);
        }
}

// Since Volta a barrier does not wait for exited threads, so the kernel ends. In run-to-barrier
// order it gives the right sum, as on an H200.
TEST(Barrier, BarrierInADivergentIfCompletesUnderVoltaRules) {
    Runner r(tree(true));
    r.settings.schedule = Schedule::run_to_barrier;
    EXPECT_EQ(r.run(one_block(256))[0], 255u * 256 / 2);
}

TEST(Barrier, BarrierDoesNotWaitForExitedThreads) {
    Runner r(
        kernel_text("setp.ge.u32 %p1, %r1, 40; @%p1 ret; bar.sync 0; st.global.u32 [%rd1], 3;"));
    const auto out = r.run(one_block(100));
    EXPECT_EQ(std::accumulate(out.begin(), out.end(), 0u), 40u * 3);
    EXPECT_EQ(r.statistics.barriers, 1u);
}

TEST(Barrier, LanesReconvergeBeforeABarrierAtTheJoin) {
    Runner r(kernel_text(
        "mov.u32 %r2, 1; setp.lt.u32 %p1, %r1, 7; @%p1 bra L; mov.u32 %r2, 2; L: bar.sync 0;"
        "activemask.b32 %r3; st.global.u32 [%rd1], %r3;"));
    for (const std::uint32_t mask : r.run(one_block(64))) EXPECT_EQ(mask, ~0u);
}

TEST(Barrier, WarpsAtDifferentBarriersAreADeadlockThatNamesBoth) {
    Runner r(
        kernel_text(
            ".loc 1 5 1\nsetp.lt.u32 %p1, %r1, 32; @%p1 bra A;\n.loc 1 6 1\nbar.sync 1; bra END;\n"
            ".loc 1 7 1\nA: bar.sync 2;\nEND: ") +
        ".file 1 \"kernels/d.cu\"\n");
    const std::string text = error_of([&] { r.run(one_block(64)); });
    expect_contains(text, "kernel k");
    expect_contains(text, "warp 0 lanes 0xffffffff at the barrier kernels/d.cu:7 (barrier 2)");
    expect_contains(text, "warp 1 lanes 0xffffffff at the barrier kernels/d.cu:6 (barrier 1)");
}

TEST(Barrier, BarrierWithAThreadCountWaitsForThatManyThreads) {
    // Warp 0 produces, warp 1 consumes, warp 2 does not arrive.
    Runner r(kernel_text(
        "setp.ge.u32 %p1, %r1, 64; @%p1 bra END; setp.ge.u32 %p2, %r1, 32; @%p2 bra CONSUME;"
        "st.shared.u32 [cell], 42; bar.arrive 3, 64; bra END;"
        "CONSUME: bar.sync 3, 64; ld.shared.u32 %r2, [cell]; st.global.u32 [%rd1], %r2; END: ",
        shared_words));
    r.settings.schedule = Schedule::reverse;
    const auto out = r.run(one_block(96));
    for (std::uint32_t t = 0; t < 96; ++t) EXPECT_EQ(out[t], t >= 32 && t < 64 ? 42u : 0u);
}

TEST(Barrier, BarrierReductionsCombineThePredicatesOfAllThreads) {
    Runner r(
        kernel_text("setp.lt.u32 %p1, %r1, 21; barrier.cta.red.popc.aligned.u32 %r2, 0, %p1;"
                    "barrier.cta.red.and.aligned.pred %p2, 0, %p1; bar.red.or.pred %p3, 0, %p1;"
                    "@%p2 add.s32 %r2, %r2, 1000; @%p3 add.s32 %r2, %r2, 100;"
                    "st.global.u32 [%rd1], %r2;"));
    for (const std::uint32_t v : r.run(one_block(70))) EXPECT_EQ(v, 121u);
    for (const std::uint32_t v : r.run(one_block(21))) EXPECT_EQ(v, 1121u);
}

TEST(Barrier, WarpBarrierReconvergesItsMembers) {
    Runner r(kernel_text(
        "setp.lt.u32 %p1, %r1, 9; @%p1 bra A; st.shared.u32 [cell], 5; bar.warp.sync -1; bra END;"
        "A: bar.warp.sync -1; ld.shared.u32 %r2, [cell]; st.global.u32 [%rd1], %r2; END: ",
        shared_words));
    EXPECT_THROW(r.run(one_block(32)), Error) << "two different barriers wait for each other";
    Runner same(kernel_text(
        "setp.lt.u32 %p1, %r1, 9; @%p1 bra A; st.shared.u32 [cell], 5; A: bar.warp.sync -1;"
        "ld.shared.u32 %r2, [cell]; st.global.u32 [%rd1], %r2;",
        shared_words));
    for (const std::uint32_t v : same.run(one_block(32))) EXPECT_EQ(v, 5u);
}

}  // namespace
}  // namespace warpscope::emulator
