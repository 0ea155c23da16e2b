#include <fmt/format.h>

#include "emulator/fast_paths/compiled/both_forms.h"

namespace warpscope::emulator {
namespace {

class Pairs : public LlvmTest {};

constexpr int words = 512;  // of shared memory
constexpr LaunchShape one_warp{{1, 1, 1}, {32, 1, 1}, 0};

/// Byte addresses of a warp: lane k has first + k % 16 * step, and lane 16 + k is `apart` bytes
/// behind lane k. `moved` is the distance by which lane 9 leaves its place.
struct PairAddresses {
    const char* name;
    int first, step, apart, moved = 0;
    int of(int lane) const {
        return first + lane % 16 * step + (lane < 16 ? 0 : apart) + (lane == 9 ? moved : 0);
    }
    /// The kernel's argument n.
    std::uint32_t packed() const {
        return std::uint32_t(first + 128) | std::uint32_t(step + 128) << 12 |
               std::uint32_t(apart + 16) << 20 | std::uint32_t(moved) << 25;
    }
};

/// Stores 100 + lane, loads each lane's word again, and copies the memory and what was loaded.
std::string kernel_with(int immediate) {
    std::string copies;
    for (int k = 0; k < words; k += 32)
        copies +=
            fmt::format("ld.shared.u32 %r8, [%r7+{0}];\nst.global.u32 [%rd1+{0}], %r8;\n", 4 * k);
    const std::string body = fmt::format(R"(
and.b32 %r9, %r0, 4095;
sub.s32 %r9, %r9, {0};
shr.u32 %r10, %r0, 12;
and.b32 %r10, %r10, 255;
sub.s32 %r10, %r10, 128;
shr.u32 %r11, %r0, 20;
and.b32 %r11, %r11, 31;
sub.s32 %r11, %r11, 16;
shr.u32 %r12, %r0, 25;
and.b32 %r2, %r1, 15;
mad.lo.s32 %r2, %r2, %r10, %r9;
shr.u32 %r3, %r1, 4;
mad.lo.s32 %r2, %r3, %r11, %r2;
setp.eq.u32 %p0, %r1, 9;
selp.b32 %r3, %r12, 0, %p0;
add.s32 %r2, %r2, %r3;
mov.u32 %r5, tile;
add.u32 %r2, %r2, %r5;
add.u32 %r4, %r1, 100;
mov.u32 %r13, %tid.y;
add.u32 %r4, %r4, %r13;
st.shared.u32 [%r2+{1}], %r4;
bar.sync 0;
ld.shared.u32 %r6, [%r2+{1}];
st.global.u32 [%rd1+{2}], %r6;
shl.b32 %r7, %r1, 2;
add.u32 %r7, %r7, %r5;
)",
                                         128 + immediate, immediate, 4 * words);
    return kernel_text(body + copies, fmt::format(".shared .align 16 .b8 tile[{}];", 4 * words));
}

/// What lane after lane stores and loads.
std::vector<std::uint32_t> expected(const PairAddresses& a) {
    std::vector<std::uint32_t> memory(words + 32);
    for (int lane = 0; lane < 32; ++lane) memory[a.of(lane) / 4] = std::uint32_t(100 + lane);
    for (int lane = 0; lane < 32; ++lane) memory[words + lane] = memory[a.of(lane) / 4];
    return memory;
}

void expect_in_order(BothForms& both, const PairAddresses& a) {
    SCOPED_TRACE(a.name);
    for (const bool compiled : {false, true}) {
        const Outcome outcome = both.run(compiled, one_warp, {}, a.packed());
        EXPECT_EQ(outcome.error, "");
        EXPECT_EQ(std::vector(outcome.memory.begin(), outcome.memory.begin() + words + 32),
                  expected(a))
            << (compiled ? "compiled" : "interpreted");
    }
    EXPECT_EQ(both.observe(true, one_warp, {}, a.packed()),
              both.observe(false, one_warp, {}, a.packed()));
}

void expect_pairs_in_order(int immediate, InstructionSet set) {
    BothForms both(kernel_with(immediate), set);
    for (const PairAddresses& a : {
             PairAddresses{"a tile of 16 words a row", 64, 64, 4},
             PairAddresses{"its second words", 72, 64, 4},
             PairAddresses{"the second half warp has the lower words", 68, 64, -4},
             PairAddresses{"rows from the last to the first", 1216, -64, 4},
             PairAddresses{"both reversed", 1220, -64, -4},
             PairAddresses{"rows of 18 words", 64, 72, 4},
             PairAddresses{"all lanes of a half warp in one word", 64, 0, 4},
         })
        expect_in_order(both, a);
}

TEST_F(Pairs, MoveWhatLaneAfterLaneMoves) {
    expect_pairs_in_order(0, InstructionSet::host);
}

TEST_F(Pairs, WithAnOffsetMoveWhatLaneAfterLaneMoves) {
    expect_pairs_in_order(4, InstructionSet::host);
    expect_pairs_in_order(-60, InstructionSet::host);
}

TEST_F(Pairs, InVectorsOfFourLanesMoveWhatLaneAfterLaneMoves) {
    expect_pairs_in_order(0, InstructionSet::sse4);
}

TEST_F(Pairs, AreNotFoundWhereLanesShareWordsOfTwoPairs) {
    BothForms both(kernel_with(0));
    for (const PairAddresses& a : {
             PairAddresses{"each pair begins in the one before", 64, 4, 4},
             PairAddresses{"each pair ends in the one before", 256, -4, 4},
             PairAddresses{"not aligned, rows of 16 words", 68, 64, 4},
             PairAddresses{"not aligned, rows of 17 words", 64, 68, 4},
             PairAddresses{"one lane in another pair", 64, 64, 4, 64},
             PairAddresses{"one lane in the other word of its pair", 64, 64, 4, 4},
             PairAddresses{"two words apart", 64, 64, 8},
         })
        expect_in_order(both, a);
}

TEST_F(Pairs, BeyondSharedMemoryAreReportedInTheInterpretersWords) {
    BothForms both(kernel_with(0));
    for (const PairAddresses& a : {
             PairAddresses{"the last pair", 4 * words - 15 * 64, 64, 4},
             PairAddresses{"the first pair", -64, 64, 4},
             PairAddresses{"half a word", 66, 64, 4},
         }) {
        SCOPED_TRACE(a.name);
        const Outcome outcome = both.run(true, one_warp, {}, a.packed());
        EXPECT_NE(outcome.error, "");
        EXPECT_EQ(outcome, both.run(false, one_warp, {}, a.packed()));
    }
}

}  // namespace
}  // namespace warpscope::emulator
