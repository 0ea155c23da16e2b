#include "emulator/races/race_detector.h"

#include "emulator/ptx_fixture.h"

namespace warpscope::emulator {
namespace {

std::uint64_t races(const RaceDetector& detector, Severity severity) {
    std::uint64_t count = 0;
    for (const Finding& f : detector.findings())
        if (f.severity == severity) count += f.count;
    return count;
}

// In n rounds, each lane of a warp stores a word and reads the word of its neighbour. Lane 0 stores
// to word 64 before the rounds, lane 1 of the other warp after them.
const std::string rounds = kernel_text(
    "mov.u32 %r9, cell; shl.b32 %r2, %r1, 2; add.s32 %r2, %r2, %r9; xor.b32 %r3, %r2, 4;\n"
    "mov.u32 %r5, 0; setp.eq.u32 %p1, %r1, 0; setp.eq.u32 %p2, %r1, 33;\n"
    "@%p1 st.shared.u32 [cell+256], %r1;\n"
    "LOOP: st.shared.u32 [%r2], %r5;\n bar.warp.sync -1;\n"
    "ld.shared.u32 %r4, [%r3];\n bar.warp.sync -1;\n"
    "add.s32 %r5, %r5, 1; setp.lt.u32 %p3, %r5, %r0; @%p3 bra LOOP;\n"
    "@%p2 st.shared.u32 [cell+256], %r1;\n",
    ".shared .align 8 .b8 cell[264];");

// More access events than the detector keeps: it must keep those that cells refer to.
TEST(RaceDetector, FindsARaceAcrossAnEpochWithManyAccessEvents) {
    Runner r(rounds);
    RaceDetector detector;
    r.observer = &detector;
    r.run(one_block(64), 400'000);
    EXPECT_EQ(races(detector, Severity::error), 1u);
    EXPECT_EQ(races(detector, Severity::warning), 0u);
    std::vector<bool> racing(66);
    racing[64] = true;
    EXPECT_EQ(detector.racing_words(), racing);
}

TEST(RaceDetector, ACopyContinuesIndependently) {
    Runner r(rounds);
    RaceDetector detector;
    r.observer = &detector;
    r.run(one_block(64), 3);
    RaceDetector copy = detector;
    EXPECT_EQ(copy.racing_words(), detector.racing_words());
    r.observer = &copy;
    r.run(one_block(64), 3);
    EXPECT_EQ(races(detector, Severity::error), 1u);
    EXPECT_EQ(races(copy, Severity::error), 2u);
}

// One lane reads 16 bytes that the other warp wrote, without a barrier.
TEST(RaceDetector, AllWordsOfARacingVectorAccessAreMarked) {
    Runner r(kernel_text(
        "mov.u32 %r9, cell; shl.b32 %r2, %r1, 4; add.s32 %r2, %r2, %r9; xor.b32 %r3, %r2, 512;\n"
        "st.shared.v4.u32 [%r2], {%r1, %r1, %r1, %r1}; setp.ne.u32 %p1, %r1, 40; @%p1 ret;\n"
        "ld.shared.v4.u32 {%r4, %r5, %r6, %r7}, [%r3];\n",
        ".shared .align 16 .b8 cell[1024];"));
    RaceDetector detector;
    r.observer = &detector;
    r.settings.schedule = Schedule::run_to_barrier;
    r.run(one_block(64));
    EXPECT_EQ(races(detector, Severity::error), 1u);
    std::vector<bool> racing(256);
    for (unsigned word = 8 * 4; word < 9 * 4; ++word) racing[word] = true;
    EXPECT_EQ(detector.racing_words(), racing);
}

// Each lane of two warps stores a row of 16 bytes; warp 1 loads matrices whose rows warp 0 has
// stored. Only lanes 0 to 15 give the addresses that .x2 accesses. A barrier between them repairs
// it.
TEST(RaceDetector, TheLaneThatGivesTheAddressOfARowRaces) {
    for (const bool has_barrier : {false, true}) {
        Runner r(kernel_text(std::string("mov.u32 %r9, cell; shl.b32 %r2, %r1, 4; add.s32 %r2, "
                                         "%r2, %r9; xor.b32 %r3, %r2, 512;\n"
                                         "st.shared.v4.u32 [%r2], {%r1, %r1, %r1, %r1};") +
                                 (has_barrier ? "bar.sync 0;" : "") +
                                 "setp.lt.u32 %p1, %r1, 32; @%p1 ret;\n"
                                 "ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r4, %r5}, [%r3];\n",
                             ".shared .align 16 .b8 cell[1024];"));
        RaceDetector detector;
        r.observer = &detector;
        r.settings.schedule = Schedule::run_to_barrier;
        r.run(one_block(64));
        EXPECT_EQ(races(detector, Severity::error), has_barrier ? 0u : 16u);
        std::vector<bool> racing(256);
        for (unsigned word = 0; word < 16 * 4 && !has_barrier; ++word) racing[word] = true;
        EXPECT_EQ(detector.racing_words(), racing);
    }
}

// Two warps store rows to one place: each row's owner is the lane that gives its address.
TEST(RaceDetector, RowsThatAreStoredTwiceRaceUnlessTheyAreEqual) {
    for (const bool equal : {false, true}) {
        Runner r(kernel_text(
            std::string("mov.u32 %r9, cell; and.b32 %r2, %r1, 31; mad.lo.u32 %r2, %r2, 16, %r9;") +
                (equal ? "and.b32 %r4, %r1, 31;" : "mov.u32 %r4, %r1;") +
                "stmatrix.sync.aligned.m8n8.x1.trans.shared.b16 [%r2], {%r4};\n",
            ".shared .align 16 .b8 cell[512];"));
        RaceDetector detector;
        r.observer = &detector;
        r.settings.schedule = Schedule::run_to_barrier;
        r.run(one_block(64));
        EXPECT_EQ(races(detector, Severity::error) != 0, !equal);
    }
}

}  // namespace
}  // namespace warpscope::emulator
