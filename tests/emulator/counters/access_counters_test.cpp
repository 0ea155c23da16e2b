#include "emulator/counters/access_counters.h"

#include <fmt/format.h>

#include <functional>

#include "emulator/ptx_fixture.h"

namespace warpscope::emulator {
namespace {

constexpr std::uint32_t every_lane = ~0u;

using Addresses = std::array<std::uint64_t, 32>;

Addresses lanes(const std::function<std::uint64_t(unsigned)>& address) {
    Addresses all;
    for (unsigned lane = 0; lane < 32; ++lane) all[lane] = address(lane);
    return all;
}

// The access of warp `warp` of a 16x16 block, which is two rows, to a tile of floats.
BankUse tile_use(unsigned pitch, bool by_column, unsigned warp) {
    return bank_use(lanes([&](unsigned lane) -> std::uint64_t {
                        const unsigned tx = lane % 16, ty = warp * 2 + lane / 16;
                        return by_column ? (tx * pitch + ty) * 4 : (ty * pitch + tx) * 4;
                    }),
                    every_lane, 4);
}

TEST(BankUse, ConflictDegreeOfTileLayoutsInA16x16Block) {
    for (unsigned warp = 0; warp < 8; ++warp) {
        SCOPED_TRACE(warp);
        EXPECT_EQ(tile_use(16, true, warp).degree, 8u);
        EXPECT_EQ(tile_use(16, true, warp).wavefronts, 8u);
        EXPECT_EQ(tile_use(16, true, warp).least, 1u);
        EXPECT_EQ(tile_use(17, true, warp).degree, 2u);
        EXPECT_EQ(tile_use(18, true, warp).degree, 1u);
        EXPECT_EQ(tile_use(16, false, warp).degree, 1u);
        EXPECT_EQ(tile_use(16, false, warp).wavefronts, 1u);
    }
}

TEST(BankUse, LanesThatAccessOneWordDoNotConflict) {
    const BankUse one = bank_use(lanes([](unsigned) { return 256; }), every_lane, 4);
    EXPECT_EQ(one.wavefronts, 1u);
    EXPECT_EQ(one.degree, 1u);
    // Four lanes share a word: 8 words in 8 banks.
    EXPECT_EQ(bank_use(lanes([](unsigned l) { return 100 + l; }), every_lane, 1).degree, 1u);
    // Words 0 and 31, and 3 and 34, are in different banks.
    EXPECT_EQ(bank_use(lanes([](unsigned l) { return l % 2 * 124; }), every_lane, 4).degree, 1u);
    EXPECT_EQ(bank_use(lanes([](unsigned l) { return 12 + l % 2 * 124; }), 6, 4).degree, 1u);
    // Even lanes access word 0, odd lanes word 32; both words are in bank 0.
    EXPECT_EQ(bank_use(lanes([](unsigned l) { return l % 2 * 128; }), every_lane, 4).degree, 2u);
    EXPECT_EQ(bank_use(lanes([](unsigned l) { return l * 128; }), every_lane, 4).degree, 32u);
    EXPECT_EQ(bank_use(lanes([](unsigned l) { return l * 8; }), every_lane, 4).degree, 2u);
}

TEST(BankUse, AccessesOf8And16BytesTakeTwoAndFourPasses) {
    const BankUse eight = bank_use(lanes([](unsigned l) { return l * 8; }), every_lane, 8);
    EXPECT_EQ(eight.least, 2u);
    EXPECT_EQ(eight.wavefronts, 2u);
    EXPECT_EQ(eight.degree, 1u);
    EXPECT_EQ(eight.group[15], 0);
    EXPECT_EQ(eight.group[16], 1);
    const BankUse sixteen = bank_use(lanes([](unsigned l) { return l * 16; }), every_lane, 16);
    EXPECT_EQ(sixteen.least, 4u);
    EXPECT_EQ(sixteen.wavefronts, 4u);
    EXPECT_EQ(sixteen.degree, 1u);
    // The addresses are 32 bytes apart, so the 8 lanes of a quarter share banks in pairs.
    const BankUse apart = bank_use(lanes([](unsigned l) { return l * 32; }), every_lane, 16);
    EXPECT_EQ(apart.wavefronts, 8u);
    EXPECT_EQ(apart.degree, 2u);
    // A tile [tx][ty] of 8-byte words: half a warp is one row, its columns are 128 bytes apart.
    const BankUse stamped =
        bank_use(lanes([](unsigned l) { return (l % 16 * 16 + l / 16) * 8; }), every_lane, 8);
    EXPECT_EQ(stamped.degree, 16u);
    EXPECT_EQ(stamped.wavefronts, 32u);
}

// Wavefronts that ncu counts on an H200 (compute capability 9.0, CUDA 13.0).
TEST(BankUse, WavefrontsEqualThoseThatAnH200Counts) {
    const auto wavefronts = [](std::uint32_t bytes, auto address) {
        return bank_use(lanes(address), every_lane, bytes).wavefronts;
    };
    EXPECT_EQ(wavefronts(16, [](unsigned) { return 64; }), 2u);
    EXPECT_EQ(wavefronts(16, [](unsigned l) { return l * 16; }), 4u);
    EXPECT_EQ(wavefronts(16, [](unsigned l) { return l / 16 * 128; }), 2u);
    EXPECT_EQ(wavefronts(16, [](unsigned l) { return l % 2 * 16; }), 2u);
    EXPECT_EQ(wavefronts(16, [](unsigned l) { return l / 8 * 16; }), 2u);
    EXPECT_EQ(wavefronts(16, [](unsigned l) { return l * 32; }), 8u);
    EXPECT_EQ(wavefronts(16, [](unsigned l) { return l / 2 * 16; }), 2u);
    EXPECT_EQ(wavefronts(8, [](unsigned) { return 64; }), 1u);
    EXPECT_EQ(wavefronts(8, [](unsigned l) { return l * 8; }), 2u);
    EXPECT_EQ(wavefronts(8, [](unsigned l) { return l / 16 * 8; }), 1u);
    EXPECT_EQ(wavefronts(8, [](unsigned l) { return (l % 16 * 16 + l / 16) * 8; }), 32u);
    EXPECT_EQ(wavefronts(8, [](unsigned l) { return l * 16; }), 4u);
    EXPECT_EQ(wavefronts(8, [](unsigned l) { return l / 2 * 8; }), 1u);
    EXPECT_EQ(wavefronts(8, [](unsigned l) { return l / 16 * 128; }), 2u);
    EXPECT_EQ(wavefronts(4, [](unsigned l) { return l * 4; }), 1u);
    EXPECT_EQ(wavefronts(4, [](unsigned l) { return (l % 16 * 16 + l / 16) * 4; }), 8u);
    EXPECT_EQ(wavefronts(4, [](unsigned l) { return (l % 16 * 17 + l / 16) * 4; }), 2u);
    EXPECT_EQ(wavefronts(4, [](unsigned l) { return l * 8; }), 2u);
    EXPECT_EQ(wavefronts(4, [](unsigned) { return 64; }), 1u);
}

TEST(BankUse, CountsOnlyTheLanesOfTheMask) {
    const Addresses column = lanes([](unsigned l) { return l * 128; });
    EXPECT_EQ(bank_use(column, 0b111, 4).degree, 3u);
    EXPECT_EQ(bank_use(column, 0, 4).wavefronts, 0u);
    // 8 bytes a lane, only lanes of the upper half: one pass.
    EXPECT_EQ(bank_use(lanes([](unsigned l) { return l * 8; }), 0xFFFF0000, 8).wavefronts, 1u);
    EXPECT_EQ(bank_use(lanes([](unsigned l) { return l * 8; }), 0xF000000F, 8).wavefronts, 2u);
}

TEST(Sectors, CountsTheSectorsThatAWarpTouches) {
    const auto count = [](std::uint32_t bytes, std::uint32_t mask, auto address) {
        return sectors(lanes(address), mask, bytes);
    };
    EXPECT_EQ(count(4, every_lane, [](unsigned l) { return 4096 + l * 4; }), 4u);
    EXPECT_EQ(count(8, every_lane, [](unsigned l) { return 4096 + l * 8; }), 8u);
    EXPECT_EQ(count(16, every_lane, [](unsigned l) { return 4096 + l * 16; }), 16u);
    EXPECT_EQ(count(4, every_lane, [](unsigned) { return 4096; }), 1u);
    // 128 bytes that begin in the middle of a sector.
    EXPECT_EQ(count(4, every_lane, [](unsigned l) { return 4112 + l * 4; }), 5u);
    EXPECT_EQ(count(1, every_lane, [](unsigned l) { return 4096 + l * 4; }), 4u);
    EXPECT_EQ(count(4, every_lane, [](unsigned l) { return 4096 + l * 12; }), 12u);
    EXPECT_EQ(count(4, every_lane, [](unsigned l) { return 4096 + l * 1024; }), 32u);
    // Even and odd lanes alternate: the order of the addresses does not matter.
    EXPECT_EQ(count(4, every_lane, [](unsigned l) { return 4096 + l % 2 * 640 + l * 4; }), 8u);
    EXPECT_EQ(count(4, 0b11, [](unsigned l) { return 4096 + l * 1024; }), 2u);
    EXPECT_EQ(count(4, 0xFF, [](unsigned l) { return 4096 + l * 4; }), 1u);
    EXPECT_EQ(count(4, 0x80000000, [](unsigned l) { return 4096 + l * 4; }), 1u);
}

TEST(Sectors, TheLeastHoldEachAddressOnce) {
    const auto least = [](std::uint32_t bytes, std::uint32_t mask, auto address) {
        return least_sectors(lanes(address), mask, bytes);
    };
    EXPECT_EQ(least(4, every_lane, [](unsigned l) { return 4096 + l * 4; }), 4u);
    EXPECT_EQ(least(4, every_lane, [](unsigned l) { return 4112 + l * 4; }), 4u);
    EXPECT_EQ(least(4, every_lane, [](unsigned l) { return 4096 + l * 1024; }), 4u);
    EXPECT_EQ(least(16, every_lane, [](unsigned l) { return 8192 - l * 64; }), 16u);
    EXPECT_EQ(least(4, every_lane, [](unsigned) { return 4096; }), 1u);
    EXPECT_EQ(least(4, every_lane, [](unsigned l) { return 4096 + l % 9 * 32; }), 2u);
    EXPECT_EQ(least(1, 0b111, [](unsigned l) { return 4096 + l * 64; }), 1u);
}

/// ldmatrix reads each matrix in one wavefront if its eight rows lie in different banks.
TEST(AccessCounters, RowsOfAMatrixConflictWithinTheirMatrix) {
    const auto loads = [](unsigned pitch, const std::string& form, const std::string& results) {
        Runner r(kernel_text(fmt::format("mov.u32 %r2, cell; mad.lo.u32 %r2, %r1, {}, %r2; "
                                         "ldmatrix.sync.aligned.m8n8.{}.shared.b16 {}, [%r2];",
                                         pitch, form, results),
                             ".shared .align 16 .b8 cell[4096];"));
        AccessCounters counters;
        r.observer = &counters;
        r.run(one_block(32));
        return counters.kernels().at(0).shared_loads;
    };
    const std::string four = "{%r4,%r5,%r6,%r7}";
    const MemoryCounts together = loads(16, "x4", four);
    EXPECT_EQ(together.requests, 1u);
    EXPECT_EQ(together.bytes, 512u);
    EXPECT_EQ(together.wavefronts, 4u);
    EXPECT_EQ(together.degree, 1u);
    // All rows begin in bank 0.
    const MemoryCounts apart = loads(128, "x4.trans", four);
    EXPECT_EQ(apart.wavefronts, 32u);
    EXPECT_EQ(apart.least_wavefronts, 4u);
    EXPECT_EQ(apart.degree, 8u);
    // Lanes 8 to 31 give addresses that are not accessed.
    const MemoryCounts one = loads(128, "x1", "{%r4}");
    EXPECT_EQ(one.bytes, 128u);
    EXPECT_EQ(one.wavefronts, 8u);
}

// One load of out[tid], a guarded store to shared memory, an atomic, and a uniform load. The atomic
// adds to a word that no thread loads, because host threads run several blocks at one time.
const std::string access_kernel = kernel_text(
    "ld.global.u32 %r2, [%rd1]; shl.b32 %r3, %r1, 3; mov.u32 %r4, cell; add.s32 %r3, %r3, %r4;"
    "setp.lt.u32 %p1, %r1, 20; @%p1 st.shared.u32 [%r3], %r2; bar.sync 0;"
    "ld.shared.v2.u32 {%r5, %r6}, [cell]; atom.global.add.u32 %r7, [%rd0+512], %r5;"
    "red.shared.add.u32 [%r3], %r6;",
    ".shared .align 8 .b8 cell[512];");

TEST(AccessCounters, CountsEveryKindOfAccessOfAKernel) {
    Runner r(access_kernel);
    AccessCounters counters;
    r.observer = &counters;
    r.run({{3, 1, 1}, {64, 1, 1}, 0});
    r.run({{3, 1, 1}, {64, 1, 1}, 0});
    ASSERT_EQ(counters.kernels().size(), 1u);
    const KernelCounters& k = counters.kernels()[0];
    EXPECT_EQ(k.kernel, "k");
    EXPECT_EQ(k.launches, 2u);
    EXPECT_EQ(k.blocks, 6u);
    EXPECT_EQ(k.barriers, 6u);
    EXPECT_EQ(k.warp_instructions, 2 * r.statistics.warp_instructions);
    EXPECT_EQ(k.thread_instructions, 2 * r.statistics.thread_instructions);

    EXPECT_EQ(k.global_loads.requests, 12u);
    EXPECT_EQ(k.global_loads.bytes, 12u * 128);
    EXPECT_EQ(k.global_loads.sectors, 12u * 4);
    EXPECT_EQ(k.global_stores.requests, 0u);
    EXPECT_EQ(k.global_atomics.requests, 12u);
    EXPECT_EQ(k.global_atomics.sectors, 12u);

    // Lanes 0 to 19 of warp 0 access words that are two apart, so lanes 0 and 16 share a bank.
    EXPECT_EQ(k.shared_stores.requests, 6u);
    EXPECT_EQ(k.shared_stores.bytes, 6u * 80);
    EXPECT_EQ(k.shared_stores.wavefronts, 6u * 2);
    EXPECT_EQ(k.shared_stores.least_wavefronts, 6u);
    EXPECT_EQ(k.shared_stores.degree, 2u);
    EXPECT_EQ(k.shared_loads.requests, 12u);
    EXPECT_EQ(k.shared_loads.wavefronts, 12u);
    EXPECT_EQ(k.shared_loads.bytes, 12u * 256);
    EXPECT_EQ(k.shared_atomics.requests, 12u);
    EXPECT_EQ(k.shared_atomics.wavefronts, 24u);
    EXPECT_EQ(k.shared_atomics.sectors, 0u);
}

// Three loads in a loop, then a store by threads 0 to 39 of 48: warp 1 has 16 lanes, 8 store.
const std::string lines_kernel = kernel_text(
    "\n.loc 1 10 0\nsetp.lt.u32 %p1, %r1, 40; mov.u32 %r5, 0;"
    "\n.loc 1 11 0\nLOOP: ld.global.u32 %r2, [%rd1]; add.s32 %r5, %r5, 1;"
    "\n.loc 1 12 0\nsetp.lt.u32 %p2, %r5, 3; @%p2 bra LOOP;"
    "\n.loc 1 13 0\n@!%p1 bra DONE;"
    "\n.loc 1 14 0\nst.global.u32 [%rd1], %r5;"
    "\n.loc 1 15 0\nDONE:",
    ".file 1 \"a.cu\"\n");

TEST(AccessCounters, CountsInstructionsAndSectorsBySourceLine) {
    Runner r(lines_kernel);
    AccessCounters counters;
    r.observer = &counters;
    r.run(one_block(48));
    r.run(one_block(48));
    const KernelCounters& k = counters.kernels().at(0);
    std::vector<std::string> lines;
    for (const LineCounters& l : k.lines)
        if (l.file == "a.cu")
            lines.push_back(fmt::format("{}: {} {} {}, {} {}", l.line, l.warp_instructions,
                                        l.thread_instructions, l.separations,
                                        l.global_loads.sectors, l.global_stores.sectors));
    // Of two launches. Line 13: the lanes of warp 1 disagree.
    EXPECT_EQ(lines, (std::vector<std::string>{"10: 8 192 0, 0 0", "11: 24 576 0, 36 0",
                                               "12: 24 576 0, 0 0", "13: 4 96 2, 0 0",
                                               "14: 4 80 0, 0 10", "15: 4 96 0, 0 0"}));
    // The five statements before the first .loc are on lines of the PTX.
    EXPECT_EQ(k.lines.size(), 5u + 6u);
    EXPECT_EQ(k.lines.front().file, "");
    EXPECT_EQ(k.lines.front().warp_instructions, 4u);
}

TEST(AccessCounters, TheLinesOfAKernelAddUpToItsTotals) {
    for (const std::string& ptx : {access_kernel, lines_kernel}) {
        Runner r(ptx);
        AccessCounters counters;
        r.observer = &counters;
        r.settings.threads = 1;  // the blocks use each other's words
        r.run({{5, 1, 1}, {48, 1, 1}, 0});
        const KernelCounters& k = counters.kernels().at(0);
        ExecutedWork sum;
        for (const LineCounters& line : k.lines) sum += line;
        EXPECT_EQ(sum, static_cast<const ExecutedWork&>(k));
        EXPECT_EQ(k.warp_instructions, r.statistics.warp_instructions);
        EXPECT_EQ(k.thread_instructions, r.statistics.thread_instructions);
    }
}

TEST(AccessCounters, ForgetsALaunchThatFails) {
    Runner r(kernel_text("setp.eq.u32 %p1, %r0, 1; @%p1 trap; st.global.u32 [%rd1], %r1;"));
    AccessCounters counters;
    r.observer = &counters;
    r.run(one_block(32), 0);
    const std::vector<LineCounters> before = counters.kernels().at(0).lines;
    EXPECT_NE(error_of([&] { r.run(one_block(32), 1); }), "");
    EXPECT_EQ(counters.kernels().at(0).launches, 1u);
    EXPECT_EQ(counters.kernels().at(0).lines, before);
}

// A loop whose stride doubles: one instruction with four patterns.
TEST(AccessCounters, CountsEachPatternOfAnInstructionThatChangesItsStride) {
    Runner r(
        kernel_text("mov.u32 %r3, cell; mov.u32 %r5, 4;"
                    "LOOP: mul.lo.u32 %r4, %r1, %r5; add.s32 %r4, %r4, %r3;"
                    "st.shared.u32 [%r4], %r1; mul.wide.u32 %rd2, %r1, %r5;"
                    "add.s64 %rd2, %rd2, %rd0; st.global.u32 [%rd2], %r1;"
                    "shl.b32 %r5, %r5, 1; setp.lt.u32 %p1, %r5, 64; @%p1 bra LOOP;",
                    ".shared .align 8 .b8 cell[1024];"));
    AccessCounters counters;
    r.observer = &counters;
    r.run(one_block(32), 0, 256);
    const KernelCounters& k = counters.kernels().at(0);
    EXPECT_EQ(k.shared_stores.requests, 4u);
    EXPECT_EQ(k.shared_stores.wavefronts, 1u + 2 + 4 + 8);
    EXPECT_EQ(k.shared_stores.degree, 8u);
    EXPECT_EQ(k.global_stores.sectors, 4u + 8 + 16 + 32);
}

}  // namespace
}  // namespace warpscope::emulator
