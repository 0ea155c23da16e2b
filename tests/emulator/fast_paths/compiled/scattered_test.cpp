#include <fmt/format.h>

#include "emulator/fast_paths/compiled/both_forms.h"

namespace warpscope::emulator {
namespace {

class Scattered : public LlvmTest {};

constexpr LaunchShape scattered_warp{{1, 1, 1}, {32, 1, 1}, 0};
constexpr int tile_words = 512;  // of shared memory
constexpr int target = 640;      // word of global memory that lane 0 stores to

/// Fills shared memory with 3 * word. Each lane adds the words at `first` + lane * n bytes and
/// behind it, stores the sum at target + lane * n bytes, and copies what it finds there then to the
/// beginning of global memory.
std::string kernel_of_words(int first) {
    std::string body = "mov.u32 %r9, tile;\nshl.b32 %r2, %r1, 2;\nadd.u32 %r2, %r2, %r9;\n";
    for (int k = 0; k < tile_words; k += 32)
        body += fmt::format(
            "add.u32 %r3, %r1, {};\nmul.lo.u32 %r3, %r3, 3;\nst.shared.u32 [%r2+{}], %r3;\n", k,
            4 * k);
    body += fmt::format(R"(
bar.sync 0;
mul.lo.s32 %r4, %r1, %r0;
add.s32 %r5, %r9, {};
add.s32 %r5, %r5, %r4;
ld.shared.u32 %r6, [%r5];
ld.shared.u32 %r7, [%r5+4];
add.u32 %r6, %r6, %r7;
cvt.s64.s32 %rd2, %r4;
add.s64 %rd2, %rd2, %rd0;
st.global.u32 [%rd2+{}], %r6;
ld.global.u32 %r8, [%rd2+{}];
st.global.u32 [%rd1], %r8;
)",
                        first, 4 * target, 4 * target);
    return kernel_text(body, fmt::format(".shared .align 16 .b8 tile[{}];", 4 * tile_words));
}

/// Of the word at a byte address and the one behind it.
std::uint32_t sum_of_two(int bytes) {
    return std::uint32_t(3 * (bytes / 4) + 3 * (bytes / 4 + 1));
}

void expect_words_move(InstructionSet set) {
    constexpr int first = 800;
    BothForms both(kernel_of_words(first), set);
    for (const int step : {0, 4, 8, 12, 28, -4, -20}) {
        SCOPED_TRACE(fmt::format("step {}", step));
        for (const bool compiled : {false, true}) {
            const Outcome outcome = both.run(compiled, scattered_warp, {}, std::uint32_t(step));
            EXPECT_EQ(outcome.error, "");
            for (int lane = 0; lane < 32; ++lane) {
                // Of lanes that store to one word, the last one's value stays.
                const int from = step == 0 ? 31 : lane;
                EXPECT_EQ(outcome.memory[std::size_t(lane)], sum_of_two(first + from * step));
            }
        }
        both.expect_equal(scattered_warp, std::uint32_t(step));
    }
}

TEST_F(Scattered, WordsAreThoseOfEachLane) {
    expect_words_move(InstructionSet::host);
}

TEST_F(Scattered, WordsInVectorsOfFourLanesAreThoseOfEachLane) {
    expect_words_move(InstructionSet::sse4);
}

TEST_F(Scattered, DoubleWordsAreThoseOfEachLane) {
    // Lane k moves double word 5 * k of global memory to 3 * k of shared memory and back to k.
    BothForms both(kernel_text(R"(
mul.wide.u32 %rd2, %r1, 40;
add.s64 %rd2, %rd2, %rd0;
ld.global.u64 %rd3, [%rd2];
mov.u32 %r2, tile;
mad.lo.u32 %r3, %r1, 24, %r2;
st.shared.u64 [%r3], %rd3;
ld.shared.u64 %rd4, [%r3];
mul.wide.u32 %rd5, %r1, 8;
add.s64 %rd5, %rd5, %rd0;
st.global.u64 [%rd5], %rd4;
)",
                               ".shared .align 8 .b8 tile[768];"));
    const Outcome outcome = both.run(true, scattered_warp, {}, 0);
    EXPECT_EQ(outcome.error, "");
    for (std::uint32_t lane = 0; lane < 32; ++lane)
        for (std::uint32_t half = 0; half < 2; ++half)  // BothForms fills the buffer like this
            EXPECT_EQ(outcome.memory[2 * lane + half], (10 * lane + half) * 2654435761u);
    both.expect_equal(scattered_warp);
}

// Lane k has the address of word 31 - k of the buffer, where n has bit k; or else of word k of a
// variable of the module.
TEST_F(Scattered, AddressesMayLieInSeveralAllocations) {
    BothForms both(kernel_text(R"(
mov.u32 %r2, 31;
sub.u32 %r2, %r2, %r1;
mul.wide.u32 %rd2, %r2, 4;
add.s64 %rd2, %rd2, %rd0;
mov.u64 %rd3, other;
mul.wide.u32 %rd4, %r1, 4;
add.s64 %rd3, %rd3, %rd4;
shr.u32 %r3, %r0, %r1;
and.b32 %r3, %r3, 1;
setp.ne.u32 %p0, %r3, 0;
selp.b64 %rd5, %rd2, %rd3, %p0;
add.u32 %r4, %r1, 1000;
st.global.u32 [%rd5], %r4;
ld.global.u32 %r5, [%rd5];
st.global.u32 [%rd1+256], %r5;
)",
                               ".global .align 4 .b8 other[128];"));
    for (const std::uint32_t n : {0u, ~0u, 0xFFFF0000u, 0x00010000u, 0x55555555u}) {
        SCOPED_TRACE(n);
        const Outcome outcome = both.run(true, scattered_warp, {}, n);
        EXPECT_EQ(outcome.error, "");
        for (std::uint32_t lane = 0; lane < 32; ++lane) {
            EXPECT_EQ(outcome.memory[64 + lane], 1000 + lane);
            EXPECT_EQ(outcome.memory[31 - lane],
                      n >> lane & 1 ? 1000 + lane : (31 - lane) * 2654435761u);
        }
        both.expect_equal(scattered_warp, n);
    }
}

TEST_F(Scattered, AddressesOfOneLaneThatAreWrongAreReportedInTheInterpretersWords) {
    // Lane k accesses 8 * k bytes behind the buffer's begin; lane 20 is n bytes from there.
    for (const char* access : {"ld.global.u32 %r5, [%rd2];", "st.global.u32 [%rd2], %r5;"}) {
        BothForms both(kernel_text(fmt::format(R"(
mul.wide.u32 %rd2, %r1, 8;
add.s64 %rd2, %rd2, %rd0;
cvt.s64.s32 %rd3, %r0;
setp.eq.u32 %p0, %r1, 20;
selp.b64 %rd3, %rd3, 0, %p0;
add.s64 %rd2, %rd2, %rd3;
mov.u32 %r5, 1;
{}
)",
                                               access)));
        for (const int n : {2, -1, -4096, 1 << 30, 16384 - 160}) {
            SCOPED_TRACE(fmt::format("{} {}", access, n));
            const Outcome outcome = both.run(true, scattered_warp, {}, std::uint32_t(n));
            EXPECT_NE(outcome.error.find("thread (20,0,0)"), std::string::npos) << outcome.error;
            EXPECT_EQ(outcome, both.run(false, scattered_warp, {}, std::uint32_t(n)));
        }
        EXPECT_EQ(both.run(true, scattered_warp, {}, 16384 - 160 - 4).error, "");
    }
}

}  // namespace
}  // namespace warpscope::emulator
