#include "emulator/counters/heat_map.h"

#include <array>
#include <numeric>
#include <utility>

#include "emulator/ptx_fixture.h"

namespace warpscope::emulator {
namespace {

using Numbers = std::vector<std::uint64_t>;

Numbers counts_of(const HeatArray& array, HeatFigure figure) {
    Numbers counts;
    for (std::uint64_t w = 0; w < array.words(); ++w) counts.push_back(array.count(figure, w));
    return counts;
}

const HeatArray& array_of(const HeatMap& heat, const std::string& name) {
    for (const HeatArray& array : heat.kernels().at(0).arrays)
        if (array.name == name) return array;
    throw std::out_of_range("no array " + name);
}

std::uint64_t sum(const Numbers& numbers) {
    return std::accumulate(numbers.begin(), numbers.end(), std::uint64_t(0));
}

TEST(WordCounts, HoldNumbersBeyond32Bits) {
    WordCounts counts;
    EXPECT_FALSE(counts.any());
    EXPECT_EQ(counts.at(7), 0u);
    counts.add(63, 3, 0xFFFFFFFF);  // three words on two pages
    counts.add(64, 1, 2);
    counts.add(64, 1, 0x7'0000'0005);
    EXPECT_EQ(counts.at(62), 0u);
    EXPECT_EQ(counts.at(63), 0xFFFFFFFFu);
    EXPECT_EQ(counts.at(64), 0x8'0000'0006u);
    EXPECT_EQ(counts.at(65), 0xFFFFFFFFu);
    WordCounts other;
    other.add(65, 1, 1);
    other.add(1000, 1, 3);
    counts += std::move(other);
    EXPECT_EQ(counts.at(65), 0x1'0000'0000u);
    EXPECT_EQ(counts.at(1000), 3u);
    WordCounts part;
    part.add_part(counts, 64, 2);
    EXPECT_EQ(part.at(0), 0x8'0000'0006u);
    EXPECT_EQ(part.at(1), 0x1'0000'0000u);
    EXPECT_EQ(part.at(2), 0u);
}

// A group has 16 words: ranges within one, over whole ones, and over whole ones and parts of
// others.
TEST(WordCounts, ARangeCountsEachOfItsWordsOnce) {
    for (const std::uint64_t first : {0, 1, 15, 16, 17, 1023, 1024})
        for (const std::uint64_t words : {0, 1, 2, 15, 16, 17, 31, 32, 33, 64, 1100}) {
            WordCounts counts;
            counts.add(first, words, 0xFFFFFFFF);
            counts.add(first, words, 3);
            counts.add(16, 16, 5);
            for (std::uint64_t word = 0; word < 2300; ++word) {
                const bool in_range = word >= first && word < first + words;
                const bool in_group = word >= 16 && word < 32;
                ASSERT_EQ(counts.at(word), (in_range ? 0x1'0000'0002u : 0) + (in_group ? 5u : 0u))
                    << "word " << word << " of a range of " << words << " from " << first;
            }
        }
}

TEST(WordCounts, SumsAndPartsHaveTheCountsOfWholeGroupsToo) {
    WordCounts counts, other;
    counts.add(8, 40, 1);   // words 8 to 47: groups 1 and 2, and a part of group 0
    other.add(16, 16, 10);  // group 1
    other.add(20, 2, 100);
    counts += std::move(other);
    WordCounts part;
    part.add_part(counts, 7, 42);
    EXPECT_EQ(part.at(0), 0u);
    for (std::uint64_t word = 8; word < 48; ++word) {
        const std::uint64_t expected =
            1u + (word >= 16 && word < 32 ? 10u : 0u) + (word == 20 || word == 21 ? 100u : 0u);
        EXPECT_EQ(counts.at(word), expected) << word;
        EXPECT_EQ(part.at(word - 7), expected) << word;
    }
    EXPECT_EQ(part.at(41), 0u);
    WordCounts group;
    group.add(16, 16, 1);
    EXPECT_TRUE(group.any());
}

// Threads 0 to 19 of 64 store to words that are two apart, so threads 0 and 16, 1 and 17, 2 and 18,
// 3 and 19 share a bank. All threads read words 0 and 1 together, and each adds to its word 2 * tid
// and to word 70 of the buffer, which no thread reads.
const std::string heat_kernel = kernel_text(
    "ld.global.u32 %r2, [%rd1]; shl.b32 %r3, %r1, 3; mov.u32 %r4, cell; add.s32 %r3, %r3, %r4;"
    "setp.lt.u32 %p1, %r1, 20; @%p1 st.shared.u32 [%r3], %r2; bar.sync 0;"
    "ld.shared.v2.u32 {%r5, %r6}, [cell]; atom.global.add.u32 %r7, [%rd0+280], %r5;"
    "red.shared.add.u32 [%r3], %r6;",
    ".shared .align 8 .b8 unused[64];\n.shared .align 8 .b8 cell[512];");

TEST(HeatMap, CountsEveryKindOfAccessByWord) {
    Runner r(heat_kernel);
    HeatMap heat(r.machine.memory());
    r.observer = &heat;
    r.run({{3, 1, 1}, {64, 1, 1}, 0}, 0, 100);
    ASSERT_EQ(heat.kernels().size(), 1u);
    const KernelHeat& k = heat.kernels()[0];
    EXPECT_EQ(k.kernel, "k");
    EXPECT_EQ(k.launches, 1u);
    EXPECT_EQ(k.launch.grid.x, 3u);
    ASSERT_EQ(k.arrays.size(), 2u) << "the kernel does not name the other variable";

    const HeatArray& cell = k.arrays[0];
    EXPECT_EQ(cell.name, "cell");
    EXPECT_TRUE(cell.shared);
    EXPECT_EQ(cell.begin, 0u);
    EXPECT_EQ(cell.bytes, 512u);
    EXPECT_EQ(cell.parameter, -1);
    Numbers reads(128), writes(128), atomics(128), conflicts(128);
    reads[0] = reads[1] = 3 * 64;
    for (std::size_t t = 0; t < 64; ++t) atomics[2 * t] = 3;
    for (std::size_t t = 0; t < 20; ++t) writes[2 * t] = 3;
    // Of the atomics each word shares its bank with one other; the stores add 8 words of 4 banks.
    for (std::size_t t = 0; t < 64; ++t) conflicts[2 * t] = 3;
    for (const std::size_t t : {0, 1, 2, 3, 16, 17, 18, 19}) conflicts[2 * t] += 3;
    EXPECT_EQ(counts_of(cell, HeatFigure::reads), reads);
    EXPECT_EQ(counts_of(cell, HeatFigure::writes), writes);
    EXPECT_EQ(counts_of(cell, HeatFigure::atomics), atomics);
    EXPECT_EQ(counts_of(cell, HeatFigure::conflicts), conflicts);

    const HeatArray& out = k.arrays[1];
    EXPECT_EQ(out.name, "");
    EXPECT_FALSE(out.shared);
    EXPECT_EQ(out.bytes, 400u);
    EXPECT_EQ(out.parameter, 0);
    EXPECT_EQ(out.parameter_offset, 0u);
    Numbers loaded(100), added(100);
    for (std::size_t w = 0; w < 64; ++w) loaded[w] = 3;
    added[70] = 3 * 64;
    EXPECT_EQ(counts_of(out, HeatFigure::reads), loaded);
    EXPECT_EQ(counts_of(out, HeatFigure::atomics), added);
    EXPECT_EQ(sum(counts_of(out, HeatFigure::conflicts)), 0u);
}

// A tile of 16 rows of 16 words that a warp, two rows of threads, accesses by column: the 32 lanes
// access 16 x 2 words, 8 of them in each of 4 banks.
TEST(HeatMap, AColumnOf16RowsHasConflictsOf8WordsOfABank) {
    Runner r(kernel_text(
        "and.b32 %r2, %r1, 15; shr.u32 %r3, %r1, 4; shl.b32 %r2, %r2, 4;"
        "add.s32 %r2, %r2, %r3; shl.b32 %r2, %r2, 2; mov.u32 %r4, _ZZ4drawPjiifibE4tile;"
        "add.s32 %r2, %r2, %r4; st.shared.u32 [%r2], %r1;",
        ".shared .align 4 .b8 _ZZ4drawPjiifibE4tile[1024];"));
    HeatMap heat(r.machine.memory());
    r.observer = &heat;
    r.run(one_block(256));
    const HeatArray& tile = array_of(heat, "tile");
    EXPECT_EQ(counts_of(tile, HeatFigure::writes), Numbers(256, 1));
    EXPECT_EQ(counts_of(tile, HeatFigure::conflicts), Numbers(256, 7));
}

TEST(HeatMap, BytesCountInTheirWordAndVectorsInEachOfTheirs) {
    Runner r(
        kernel_text("cvt.u64.u32 %rd2, %r1; add.s64 %rd2, %rd0, %rd2; st.global.u8 [%rd2], %r1;"
                    "mul.wide.u32 %rd3, %r1, 16; add.s64 %rd3, %rd0, %rd3;"
                    "ld.global.v4.u32 {%r2, %r3, %r4, %r5}, [%rd3];"));
    HeatMap heat(r.machine.memory());
    r.observer = &heat;
    r.run(one_block(30), 0, 128);
    const HeatArray& out = array_of(heat, "");
    Numbers reads(128), writes(128);
    for (std::size_t w = 0; w < 4 * 30; ++w) reads[w] = 1;
    for (std::size_t t = 0; t < 30; ++t) ++writes[t / 4];
    EXPECT_EQ(counts_of(out, HeatFigure::reads), reads);
    EXPECT_EQ(counts_of(out, HeatFigure::writes), writes);
}

// Three blocks of 45 threads: the second warp has 13 lanes. The words of the stores begin 3 words
// behind the buffer's begin; the loads of 8 bytes leave no word out and end with the buffer.
TEST(HeatMap, RangesNeedNotBeginOrEndWithAGroup) {
    Runner r(
        kernel_text("mul.wide.u32 %rd2, %r1, 4; add.s64 %rd2, %rd0, %rd2;"
                    "st.global.u32 [%rd2+12], %r1;"
                    "mul.wide.u32 %rd3, %r1, 8; add.s64 %rd3, %rd0, %rd3;"
                    "ld.global.v2.u32 {%r2, %r3}, [%rd3];"
                    "red.global.add.u32 [%rd2+4], 1;"));
    HeatMap heat(r.machine.memory());
    r.observer = &heat;
    r.run({{3, 1, 1}, {45, 1, 1}, 0}, 0, 90);
    const HeatArray& out = array_of(heat, "");
    Numbers writes(90), atomics(90);
    std::fill_n(writes.begin() + 3, 45, 3);
    std::fill_n(atomics.begin() + 1, 45, 3);
    EXPECT_EQ(counts_of(out, HeatFigure::reads), Numbers(90, 3));
    EXPECT_EQ(counts_of(out, HeatFigure::writes), writes);
    EXPECT_EQ(counts_of(out, HeatFigure::atomics), atomics);
}

// Lanes that access halfwords add twice to each word; the odd lanes alone add once to every second
// word. Each half of the warp has a row of 16 words, and the rows are 20 words apart.
TEST(HeatMap, RowsOf16WordsAndWarpsWithIdleLanesCountByLane) {
    Runner r(
        kernel_text("mul.wide.u32 %rd2, %r1, 2; add.s64 %rd2, %rd0, %rd2;"
                    "st.global.u16 [%rd2], %r1;"
                    "mul.wide.u32 %rd3, %r1, 4; add.s64 %rd3, %rd0, %rd3; and.b32 %r2, %r1, 1;"
                    "setp.eq.u32 %p1, %r2, 1; @%p1 red.global.add.u32 [%rd3], 1;"
                    "shr.u32 %r3, %r1, 4; mul.wide.u32 %rd4, %r3, 16; add.s64 %rd3, %rd3, %rd4;"
                    "ld.global.u32 %r4, [%rd3];"));
    HeatMap heat(r.machine.memory());
    r.observer = &heat;
    r.run(one_block(32), 0, 40);
    const HeatArray& out = array_of(heat, "");
    Numbers reads(40), writes(40), atomics(40);
    std::fill_n(reads.begin(), 16, 1);
    std::fill_n(reads.begin() + 20, 16, 1);
    std::fill_n(writes.begin(), 16, 2);
    for (std::size_t w = 1; w < 32; w += 2) atomics[w] = 1;
    EXPECT_EQ(counts_of(out, HeatFigure::reads), reads);
    EXPECT_EQ(counts_of(out, HeatFigure::writes), writes);
    EXPECT_EQ(counts_of(out, HeatFigure::atomics), atomics);
}

// 16-byte loads that are 32 bytes apart: each pass serves 8 lanes, whose 32 words are two to a
// bank.
TEST(HeatMap, AConflictCountsInThePassInWhichItOccurs) {
    Runner r(
        kernel_text("shl.b32 %r2, %r1, 5; mov.u32 %r3, cell; add.s32 %r2, %r2, %r3;"
                    "ld.shared.v4.u32 {%r4, %r5, %r6, %r7}, [%r2];",
                    ".shared .align 16 .b8 cell[1024];"));
    HeatMap heat(r.machine.memory());
    r.observer = &heat;
    r.run(one_block(32));
    Numbers expected(256);
    for (std::size_t w = 0; w < 256; ++w) expected[w] = w % 8 < 4;
    EXPECT_EQ(counts_of(array_of(heat, "cell"), HeatFigure::reads), expected);
    EXPECT_EQ(counts_of(array_of(heat, "cell"), HeatFigure::conflicts), expected);
}

// Even lanes read the variable of the module, odd ones the allocation.
TEST(HeatMap, LanesOfOneAccessMayReadSeveralAllocations) {
    Runner r(
        kernel_text("and.b32 %r2, %r1, 1; setp.eq.u32 %p1, %r2, 0; mov.u64 %rd2, table;"
                    "mul.wide.u32 %rd3, %r1, 4; add.s64 %rd2, %rd2, %rd3;"
                    "selp.b64 %rd4, %rd2, %rd1, %p1; ld.global.u32 %r3, [%rd4];",
                    ".global .align 4 .b8 table[128];"));
    HeatMap heat(r.machine.memory());
    r.observer = &heat;
    r.run(one_block(32));
    Numbers even(32), odd(32);
    for (std::size_t w = 0; w < 32; ++w) (w % 2 ? odd : even)[w] = 1;
    EXPECT_EQ(counts_of(array_of(heat, "table"), HeatFigure::reads), even);
    EXPECT_EQ(counts_of(array_of(heat, ""), HeatFigure::reads), odd);
}

// Wherever the allocations lie.
TEST(HeatMap, ArraysHaveTheOrderOfTheirParameters) {
    const auto module = Module::parse(
        ".version 8.0\n.target sm_75\n.address_size 64\n"
        ".visible .entry k(.param .u64 a, .param .u64 b) { .reg .u64 %rd<2>; .reg .u32 %r<1>;"
        "ld.param.u64 %rd0, [a]; ld.param.u64 %rd1, [b];"
        "ld.global.u32 %r0, [%rd0]; st.global.u32 [%rd1], %r0; ret; }",
        "test");
    for (const bool swapped : {false, true}) {
        Machine machine;
        HeatMap heat(machine.memory());
        std::array<void*, 2> arrays{machine.memory().allocate(64), machine.memory().allocate(64)};
        if (swapped) std::swap(arrays[0], arrays[1]);
        const void* arguments[] = {&arrays[0], &arrays[1]};
        machine.run(*module->kernels().front(), {{1, 1, 1}, {32, 1, 1}, 0}, arguments, {}, &heat);
        ASSERT_EQ(heat.kernels().at(0).arrays.size(), 2u);
        EXPECT_EQ(heat.kernels()[0].arrays[0].parameter, 0);
        EXPECT_EQ(heat.kernels()[0].arrays[1].parameter, 1);
    }
}

TEST(HeatMap, DynamicSharedMemoryHasTheBytesOfTheLaunch) {
    Runner r(
        kernel_text("shl.b32 %r2, %r1, 2; mov.u32 %r3, rest; add.s32 %r2, %r2, %r3;"
                    "st.shared.u32 [%r2], %r1; st.shared.u8 [flag], %r1;",
                    ".extern .shared .align 16 .b8 rest[];\n.shared .align 1 .u8 flag;"));
    HeatMap heat(r.machine.memory());
    r.observer = &heat;
    r.run(one_block(32, 160));
    const HeatArray& rest = array_of(heat, "rest");
    EXPECT_EQ(rest.begin, 16u) << "behind the byte";
    EXPECT_EQ(rest.bytes, 160u);
    Numbers writes(40);
    std::fill_n(writes.begin(), 32, 1);
    EXPECT_EQ(counts_of(rest, HeatFigure::writes), writes);
    EXPECT_EQ(counts_of(array_of(heat, "flag"), HeatFigure::writes), Numbers{32});
}

TEST(HeatMap, AddsUpLaunchesAndForgetsOneThatFails) {
    Runner r(kernel_text("st.shared.u32 [cell], %r1; setp.eq.u32 %p1, %r0, 1; @%p1 trap;",
                         ".shared .align 4 .b8 cell[4];"));
    HeatMap heat(r.machine.memory());
    r.observer = &heat;
    r.run(one_block(32), 0);
    EXPECT_NE(error_of([&] { r.run(one_block(32), 1); }), "");
    r.run({{2, 1, 1}, {32, 1, 1}, 0}, 0);
    EXPECT_EQ(heat.kernels().at(0).launches, 2u);
    EXPECT_EQ(heat.kernels()[0].launch.grid.x, 2u);
    EXPECT_EQ(counts_of(array_of(heat, "cell"), HeatFigure::writes), Numbers{96});
}

TEST(HeatMap, DoesNotDependOnTheNumberOfThreads) {
    const auto counted = [](unsigned threads) {
        Runner r(heat_kernel);
        HeatMap heat(r.machine.memory());
        r.observer = &heat;
        r.settings.threads = threads;
        r.run({{50, 1, 1}, {64, 1, 1}, 0}, 0, 100);
        std::vector<Numbers> all;
        for (const HeatArray& array : heat.kernels().at(0).arrays)
            for (std::size_t f = 0; f < heat_figures; ++f)
                all.push_back(counts_of(array, HeatFigure(f)));
        return all;
    };
    const std::vector<Numbers> one = counted(1);
    EXPECT_EQ(sum(one.at(0)), 50u * 128);
    for (const unsigned threads : {2u, 5u, 29u}) EXPECT_EQ(counted(threads), one) << threads;
}

}  // namespace
}  // namespace warpscope::emulator
