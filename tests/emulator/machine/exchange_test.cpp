#include <bit>

#include "emulator/ptx_fixture.h"

namespace warpscope::emulator {
namespace {

std::vector<std::uint32_t> warp_values(const std::string& body, std::uint32_t threads = 32) {
    Runner r(kernel_text(body + "st.global.u32 [%rd1], %r9;"));
    return r.run(one_block(threads));
}

TEST(Exchange, ShuffleDownKeepsTheOwnValueOfTheLastLanes) {
    const auto v =
        warp_values("shfl.sync.down.b32 %r9|%p1, %r1, 3, 31, -1; @!%p1 add.s32 %r9, %r9, 100;");
    for (std::uint32_t t = 0; t < 32; ++t) EXPECT_EQ(v[t], t < 29 ? t + 3 : t + 100);
}

TEST(Exchange, ShuffleUpStaysInSegmentsOfEightLanes) {
    const auto v =
        warp_values("shfl.sync.up.b32 %r9|%p1, %r1, 2, 6144, -1; @!%p1 add.s32 %r9, %r9, 100;");
    for (std::uint32_t t = 0; t < 32; ++t) EXPECT_EQ(v[t], t % 8 >= 2 ? t - 2 : t + 100);
}

TEST(Exchange, ShuffleButterflyAndIndexReadTheirSourceLanes) {
    const auto butterfly = warp_values("shfl.sync.bfly.b32 %r9, %r1, 5, 31, -1;");
    const auto index = warp_values("shfl.sync.idx.b32 %r9, %r1, 3, 6175, -1;");  // width 8
    for (std::uint32_t t = 0; t < 32; ++t) {
        EXPECT_EQ(butterfly[t], t ^ 5);
        EXPECT_EQ(index[t], t / 8 * 8 + 3);
    }
}

TEST(Exchange, VotesCountTheLanesOfAPartialWarp) {
    const auto v = warp_values(
        "setp.lt.u32 %p1, %r1, 4; vote.sync.ballot.b32 %r9, %p1, 127;"
        "vote.sync.any.pred %p2, %p1, 127; @%p2 add.s32 %r9, %r9, 100;"
        "vote.sync.all.pred %p3, %p1, 127; @%p3 add.s32 %r9, %r9, 1000;"
        "vote.sync.any.pred %p4, !%p1, 127; @%p4 add.s32 %r9, %r9, 200;",
        7);
    for (const std::uint32_t x : v) EXPECT_EQ(x, 15u + 100 + 200);
}

// if (lane < 20) … __ballot_sync(~0u, …) at the end of a kernel: the other lanes have exited.
TEST(Exchange, WarpWideInstructionsDoNotWaitForExitedLanes) {
    Runner r(kernel_text(R"(
setp.ge.u32 %p1, %r1, 20;
@%p1 bra END;
and.b32 %r2, %r1, 1;
setp.eq.u32 %p2, %r2, 1;
vote.sync.ballot.b32 %r9, %p2, -1;
shfl.sync.down.b32 %r3, %r1, 1, 31, -1;
add.u32 %r9, %r9, %r3;
st.global.u32 [%rd1], %r9;
END:)"));
    for (const Schedule schedule :
         {Schedule::run_to_barrier, Schedule::reverse, Schedule::random}) {
        r.settings.schedule = schedule;
        const auto v = r.run(one_block(32));
        for (std::uint32_t t = 0; t < 32; ++t)
            EXPECT_EQ(v[t], t < 19 ? 0xaaaaau + t + 1 : t == 19 ? v[19] : 0);
    }
}

TEST(Exchange, MatchAndReduxCombineAllLanes) {
    const auto match = warp_values("rem.u32 %r2, %r1, 3; match.any.sync.b32 %r9, %r2, -1;");
    const auto sum = warp_values("redux.sync.add.s32 %r9, %r1, -1;");
    for (std::uint32_t t = 0; t < 32; ++t) {
        std::uint32_t same = 0;
        for (std::uint32_t k = t % 3; k < 32; k += 3) same |= 1u << k;
        EXPECT_EQ(match[t], same);
        EXPECT_EQ(sum[t], 31u * 32 / 2);
    }
}

TEST(Exchange, AtomicsOfGlobalAndSharedMemoryCombineAllLanes) {
    Runner r(kernel_text(R"(
red.global.add.u32 [%rd0], %r1;
atom.global.max.s32 %r2, [%rd0+4], %r1;
atom.global.inc.u32 %r3, [%rd0+8], 4;
red.global.or.b32 [%rd0+12], %r1;
cvt.rn.f32.u32 %f1, %r1; red.global.add.f32 [%rd0+16], %f1;
atom.shared.add.u32 %r4, [cell], 2;
bar.sync 0;
ld.shared.u32 %r5, [cell];
setp.eq.s32 %p1, %r1, 0;
@%p1 st.global.u32 [%rd0+20], %r5;
atom.global.cas.b32 %r6, [%rd0+24], 0, 55;
red.global.min.u32 [%rd0+28], %r1;)",
                         ".shared .align 4 .b8 cell[4];"));
    const auto v = r.run(one_block(33), 0, 8);
    EXPECT_EQ(v[0], 32u * 33 / 2);
    EXPECT_EQ(v[1], 32u);
    EXPECT_EQ(v[2], 33u % 5);
    EXPECT_EQ(v[3], 63u);
    EXPECT_EQ(std::bit_cast<float>(v[4]), 528.0f);
    EXPECT_EQ(v[5], 66u);
    EXPECT_EQ(v[6], 55u);
    EXPECT_EQ(v[7], 0u);
}

TEST(Exchange, VectorLoadsAndStoresMoveAllElements) {
    Runner r(kernel_text(R"(
mul.wide.u32 %rd2, %r1, 16; add.s64 %rd2, %rd0, %rd2;
add.s32 %r2, %r1, 1; add.s32 %r3, %r1, 2; add.s32 %r4, %r1, 3;
st.global.v4.u32 [%rd2], {%r1, %r2, %r3, %r4};
ld.global.v2.u32 {%r5, %r6}, [%rd2+8];
ld.global.v4.u32 {%r7, _, %r8, _}, [%rd2];
add.s32 %r5, %r5, %r6; add.s32 %r5, %r5, %r7; add.s32 %r5, %r5, %r8;
st.global.u32 [%rd2+4], %r5;)"));
    const auto v = r.run(one_block(40), 0, 160);
    for (std::uint32_t t = 0; t < 40; ++t) {
        EXPECT_EQ(v[4 * t], t);
        EXPECT_EQ(v[4 * t + 1], 4 * t + 7);
        EXPECT_EQ(v[4 * t + 3], t + 3);
    }
}

TEST(Exchange, VectorStoresOfBytesWriteFourBytePixels) {
    Runner r(
        kernel_text("mov.u16 %h1, 0; mov.u16 %h2, 255; cvt.u16.u32 %h3, %r1;"
                    "st.global.v4.u8 [%rd1], {%h1, %h3, %h1, %h2};"));
    const auto v = r.run(one_block(300));
    for (std::uint32_t t = 0; t < 300; ++t) EXPECT_EQ(v[t], 0xFF000000u | (t & 255) << 8);
}

}  // namespace
}  // namespace warpscope::emulator
