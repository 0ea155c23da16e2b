#include <gtest/gtest.h>

#include "emulator/fast_paths/compiled/both_forms.h"

namespace warpscope::emulator {
namespace {

class ObservedAccesses : public LlvmTest {
  protected:
    const std::string tile_ = ".shared .align 16 .b8 tile[4096];";
};

// Lane l of a warp accesses the bytes behind those of lane l - 1: 4, 8 and 16 bytes each. Then the
// lanes read what they have written, add to it, and read words that other warps add to.
TEST_F(ObservedAccesses, OfFollowingBytesHaveEqualFindingsAndCounts) {
    BothForms both(kernel_text(R"(
mov.u32 %r2, tile;
shl.b32 %r3, %r1, 4;
add.u32 %r3, %r3, %r2;
mul.wide.u32 %rd2, %r1, 16;
add.s64 %rd3, %rd0, %rd2;
ld.global.v4.u32 {%r4, %r5, %r6, %r7}, [%rd3];
st.shared.v4.u32 [%r3], {%r4, %r5, %r6, %r7};
bar.sync 0;
shl.b32 %r8, %r1, 3;
add.u32 %r8, %r8, %r2;
ld.shared.v2.u32 {%r4, %r5}, [%r8+64];
st.shared.v2.u32 [%r8+1024], {%r5, %r4};
shl.b32 %r9, %r1, 2;
add.u32 %r9, %r9, %r2;
ld.shared.u32 %r6, [%r9];
ld.shared.u32 %r7, [%r9+12];
add.u32 %r6, %r6, %r7;
st.shared.u32 [%r9], %r6;
st.shared.u32 [%r9], %r7;
ld.shared.u32 %r6, [%r9+4];
bar.sync 0;
ld.shared.u32 %r6, [%r9];
st.shared.u32 [%r9], %r6;
mul.wide.u32 %rd2, %r1, 4;
add.s64 %rd3, %rd0, %rd2;
st.global.u32 [%rd3+4], %r6;
)",
                               tile_));
    for (const std::uint32_t threads : {32u, 96u, 120u})
        both.expect_equal({{1, 1, 1}, {threads, 1, 1}, 0});
}

// 16 lanes access following words, and the 16 others words elsewhere: the two halves of a warp
// follow each other in one of the four accesses only.
TEST_F(ObservedAccesses, OfTwoRowsHaveEqualFindingsAndCounts) {
    std::string text =
        "mov.u32 %r2, tile;\nand.b32 %r3, %r1, 15;\nshl.b32 %r3, %r3, 2;\n"
        "add.u32 %r3, %r3, %r2;\nshr.u32 %r4, %r1, 4;\n";
    for (const int row_bytes : {64, 128, 0, 68})
        text += fmt::format(
            "mul.lo.u32 %r5, %r4, {};\nadd.u32 %r5, %r5, %r3;\n"
            "st.shared.u32 [%r5], %r1;\nld.shared.u32 %r6, [%r5];\nbar.sync 0;\n",
            row_bytes);
    BothForms(kernel_text(text, tile_)).expect_equal({{1, 1, 1}, {128, 1, 1}, 0});
}

// Each of nine blocks stores 8 rows of 16 words. The last quarter of a row is the first one of the
// next block's row. Then each block loads the rows of the last block, which itself loads in each
// warp those of another warp.
TEST_F(ObservedAccesses, OfTwoRowsInManyBlocksHaveEqualFindingsAndCounts) {
    BothForms(kernel_text("mov.u32 %r2, %ctaid.x; mul.lo.u32 %r3, %r2, 48; and.b32 %r4, %r1, 15;"
                          "shl.b32 %r4, %r4, 2; add.u32 %r3, %r3, %r4; shr.u32 %r5, %r1, 4;"
                          "mul.lo.u32 %r5, %r5, 512; add.u32 %r3, %r3, %r5;"
                          "cvt.u64.u32 %rd2, %r3; add.s64 %rd3, %rd0, %rd2;"
                          "st.global.u32 [%rd3], %r1; setp.eq.u32 %p0, %r2, 8;"
                          "@%p0 xor.b32 %r5, %r5, 1024; add.u32 %r6, %r4, %r5;"
                          "cvt.u64.u32 %rd2, %r6; add.s64 %rd3, %rd0, %rd2;"
                          "ld.global.u32 %r6, [%rd3+384];"))
        .expect_equal({{9, 1, 1}, {128, 1, 1}, 0});
}

// Each of 3 warps reads 700 words, one after the other and all lanes one word, and then the word
// that it began with, to which it stores.
const std::string broadcasts = R"(
mov.u32 %r2, tile;
mov.u32 %r3, 0;
LOOP:
ld.shared.u32 %r4, [%r2];
add.u32 %r2, %r2, 4;
add.u32 %r3, %r3, 1;
setp.lt.u32 %p0, %r3, 700;
@%p0 bra LOOP;
ld.shared.u32 %r4, [tile];
)";

TEST_F(ObservedAccesses, OfOneAddressAreReportedInTheirOrder) {
    BothForms(kernel_text(broadcasts + "st.shared.u32 [tile], %r1;", tile_))
        .expect_equal({{2, 1, 1}, {96, 1, 1}, 0});
}

TEST_F(ObservedAccesses, OfOneAddressAreReportedBeforeAnError) {
    BothForms both(kernel_text(broadcasts + "ld.global.u32 %r4, [%rd0-4];", tile_));
    const LaunchShape one_warp{{1, 1, 1}, {32, 1, 1}, 0};
    const Outcome interpreted = both.observe(false, one_warp, {}, 0);
    EXPECT_NE(interpreted.error, "");
    EXPECT_NE(interpreted.findings, "");
    EXPECT_EQ(interpreted, both.observe(true, one_warp, {}, 0));
}

// Between two barriers each of 4 warps reads 8 words, 256 times in all. Some of the warps wait at
// the next barrier already, while others still read.
TEST_F(ObservedAccesses, OfOneAddressAreAllCounted) {
    BothForms both(kernel_text(R"(
mov.u32 %r5, 0;
STEP:
mov.u32 %r2, tile;
shl.b32 %r6, %r1, 2;
add.u32 %r6, %r6, %r2;
st.shared.u32 [%r6], %r1;
bar.sync 0;
mov.u32 %r3, 0;
LOOP:
and.b32 %r4, %r3, 7;
shl.b32 %r4, %r4, 2;
add.u32 %r4, %r4, %r2;
ld.shared.u32 %r7, [%r4];
add.u32 %r3, %r3, 1;
setp.lt.u32 %p0, %r3, 256;
@%p0 bra LOOP;
bar.sync 0;
add.u32 %r5, %r5, 1;
setp.lt.u32 %p1, %r5, 3;
@%p1 bra STEP;
)",
                               tile_));
    RaceDetector races;
    AccessCounters counters;
    ObserverList checks;
    checks.add(races);
    checks.add(counters);
    both.run(true, {{1, 1, 1}, {128, 1, 1}, 0}, {}, 0, &checks);
    EXPECT_TRUE(races.findings().empty());
    EXPECT_EQ(counters.kernels().front().shared_loads.requests, 3u * 4 * 256);
    both.expect_equal({{1, 1, 1}, {128, 1, 1}, 0});
}

}  // namespace
}  // namespace warpscope::emulator
