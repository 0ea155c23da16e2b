#include <map>
#include <ostream>

#include "emulator/counters/heat_map.h"
#include "emulator/program/error.h"
#include "emulator/ptx_fixture.h"
#include "emulator/races/grid/grid_races.h"
#include "race_kernels.h"

/// The races of each word of memory, as a heat map has them.
namespace warpscope::tests {
namespace {

using emulator::HeatArray;
using emulator::HeatFigure;
using emulator::KernelHeat;

/// Hazards by word; words without hazards are left out.
using WordHazards = std::map<std::uint64_t, std::uint64_t>;

/// `words` words from `first` on have `each` hazards, those `step` words apart.
WordHazards words(std::uint64_t first, std::uint64_t number, std::uint64_t each,
                  std::uint64_t step = 1) {
    WordHazards all;
    for (std::uint64_t k = 0; k < number; ++k) all[first + k * step] = each;
    return all;
}

WordHazards joined(std::initializer_list<WordHazards> lists) {
    WordHazards all;
    for (const WordHazards& list : lists) all.insert(list.begin(), list.end());
    return all;
}

/// The race check and the heat map of a machine.
struct Watch : emulator::ObserverList {
    explicit Watch(emulator::Machine& machine) : heat(machine.memory()) {
        within.count_hazards_in(heat);
        between.count_hazards_in(heat);
        add(within);
        add(between);
        add(heat);
    }
    std::uint64_t hazards() const {
        std::uint64_t sum = 0;
        for (const auto& findings : {within.findings(), between.findings()})
            for (const emulator::Finding& f : findings)
                sum += f.kind == emulator::FindingKind::race ? f.count : 0;
        return sum;
    }
    /// Of all arrays, by their names.
    std::map<std::string, WordHazards> racing() const {
        std::map<std::string, WordHazards> found;
        for (const KernelHeat& kernel : heat.kernels()) {
            EXPECT_TRUE(kernel.has_races);
            for (const HeatArray& array : kernel.arrays)
                for (std::uint64_t word = 0; word < array.words(); ++word)
                    if (const std::uint64_t n = array.count(HeatFigure::races, word))
                        found[array.name][word] += n;
        }
        return found;
    }

    emulator::RaceDetector within;
    emulator::GridRaces between;
    emulator::HeatMap heat;
};

struct ExpectedAtWords {
    std::string file, kernel;
    std::uint32_t blocks;                       ///< of 64 threads
    std::map<std::string, WordHazards> racing;  ///< by array; the allocation has no name
    bool each_is_one_word = true;               ///< no access and no race is of several words
};

std::ostream& operator<<(std::ostream& out, const ExpectedAtWords& e) {
    return out << e.file << " " << e.kernel;
}

class WordRaces : public testing::TestWithParam<ExpectedAtWords> {};

TEST_P(WordRaces, AreTheHazardsOfEachWordInEverySchedule) {
    const ExpectedAtWords& e = GetParam();
    for (emulator::LaunchSettings settings : schedules(3)) {
        settings.threads = 1;
        // Of its own, because a variable keeps its value.
        const auto module = emulator::Module::parse(race_kernels(e.file + ".ptx"), e.file + ".cu");
        emulator::Machine machine;
        Watch watch(machine);
        void* out = machine.memory().allocate(1024 * 4);
        const void* arguments[] = {&out};
        machine.run(*module->find(e.kernel), {{e.blocks, 1, 1}, {64, 1, 1}, 0}, arguments, settings,
                    &watch);
        EXPECT_EQ(watch.racing(), e.racing) << "schedule " << int(settings.schedule);
        std::uint64_t sum = 0;
        for (const auto& [name, found] : e.racing)
            for (const auto& [word, number] : found) sum += number;
        if (e.each_is_one_word) {
            EXPECT_EQ(watch.hazards(), sum);
        }
    }
}

INSTANTIATE_TEST_SUITE_P(
    Suite, WordRaces,
    testing::Values(
        ExpectedAtWords{"kernels", "mirror", 1, {}},
        // Each word has one reader in the other warp, in each block. The blocks write the words of
        // `out` too.
        ExpectedAtWords{
            "kernels", "mirror_no_barrier", 3, {{"cell", words(0, 64, 3)}, {"", words(0, 64, 1)}}},
        ExpectedAtWords{"kernels", "rounds_one_barrier_short", 1, {{"cell", words(0, 64, 2)}}},
        // In each warp 31 lanes conflict with the first lane; then 32 lanes with the other warp.
        ExpectedAtWords{
            "kernels", "one_word_many_values", 1, {{"cell", words(0, 1, 31 + 31 + 32)}}},
        ExpectedAtWords{"kernels", "one_word_one_value", 1, {{"cell", words(0, 1, 31 + 31 + 32)}}},
        // In each step after the first, with offset o, lane w - o reads word w from o on, which
        // lane w wrote in the step before, and lane w overwrites it. At the end 31 lanes read
        // word 0.
        ExpectedAtWords{
            "kernels",
            "last_warp_in_step",
            1,
            {{"cell", joined({words(0, 1, 31), words(1, 1, 2 * 1), words(2, 2, 2 * 2),
                              words(4, 4, 2 * 3), words(8, 8, 2 * 4), words(16, 16, 2 * 5)})}}},
        // Four bytes in a word; one hazard each.
        ExpectedAtWords{"kernels", "byte_of_neighbour", 1, {{"cell", words(0, 16, 4)}}},
        ExpectedAtWords{"kernels", "word_of_bytes", 1, {{"cell", words(0, 16, 4)}}},
        // A hazard of 8 bytes counts at both words.
        ExpectedAtWords{"kernels", "vector_no_barrier", 1, {{"cell", words(0, 128, 1)}}, false},
        ExpectedAtWords{"kernels", "histogram_no_barrier", 1, {{"count", words(0, 32, 2)}}},
        ExpectedAtWords{"grid", "own_words", 8, {}},
        ExpectedAtWords{"grid", "atomic_increments", 8, {}},
        // Reads and writes, and writes and writes.
        ExpectedAtWords{"grid", "increments", 4, {{"", words(0, 1, 2)}}},
        ExpectedAtWords{"grid", "atomics_and_a_read", 3, {{"", words(0, 1, 1)}}},
        ExpectedAtWords{"grid", "next_block", 6, {{"", words(64, 5 * 64, 1)}}},
        ExpectedAtWords{"grid", "edges", 8, {{"", words(63, 7, 1, 64)}}},
        // 128 vectors of 4 words.
        ExpectedAtWords{"grid", "vectors", 4, {{"", words(0, 512, 1)}}, false},
        ExpectedAtWords{"grid", "last_block_no_fence", 8, {{"", words(0, 7, 1)}}},
        ExpectedAtWords{"grid",
                        "mirror_in_global_memory_no_barrier",
                        2,
                        {{"", joined({words(0, 64, 1), words(128, 64, 1)})}}}),
    [](const auto& info) { return info.param.file + "_" + info.param.kernel; });

// Within each of 2 blocks 94 hazards, as of one word of shared memory, and the writes of the
// blocks.
TEST(WordRacesOfLaunches, CountRacesWithinABlockAndBetweenBlocks) {
    emulator::Runner r(emulator::kernel_text("st.global.u32 [%rd0+8], %r1;"));
    Watch watch(r.machine);
    r.observer = &watch;
    r.settings.threads = 1;
    r.run({{2, 1, 1}, {64, 1, 1}, 0});
    EXPECT_EQ(watch.racing(), (std::map<std::string, WordHazards>{{"", {{2, 2 * 94 + 1}}}}));
}

// In a kernel that stores bytes too, thread 32 stores 8 bytes over those of threads 0 to 5, and 16
// bytes over 8 of thread 9.
TEST(WordRacesOfLaunches, AWideAccessCountsOnceAtAWordForEachThread) {
    emulator::Runner r(emulator::kernel_text(
        "mov.u32 %r2, cell; setp.lt.u32 %p1, %r1, 6; setp.eq.u32 %p2, %r1, 32;"
        "add.s32 %r3, %r2, %r1; @%p1 st.shared.u8 [%r3], %r1;"
        "setp.eq.u32 %p3, %r1, 9; @%p3 st.shared.v2.u32 [%r2+24], {%r1, %r1};"
        "@%p2 st.shared.v4.u32 [%r2+16], {%r1, %r1, %r1, %r1};"
        "@%p2 st.shared.v2.u32 [%r2], {%r1, %r1};",
        ".shared .align 16 .b8 cell[32];"));
    for (const auto schedule : {emulator::Schedule::run_to_barrier, emulator::Schedule::reverse}) {
        Watch watch(r.machine);
        r.observer = &watch;
        r.settings.schedule = schedule;
        r.run(emulator::one_block(64));
        // Threads 0 to 3, and 4 and 5, with thread 32; words 6 and 7 are of one other thread.
        EXPECT_EQ(watch.racing(),
                  (std::map<std::string, WordHazards>{{"cell", {{0, 4}, {1, 2}, {6, 1}, {7, 1}}}}));
    }
}

// Thread t of warp 0 stores to word t, which thread t + 32 reads. In launches with n = 1 block 2
// then fails.
const std::string failing = emulator::kernel_text(
    "mov.u32 %r2, cell; and.b32 %r3, %r1, 31; shl.b32 %r3, %r3, 2; add.s32 %r3, %r3, %r2;"
    "setp.lt.u32 %p1, %r1, 32; @%p1 st.shared.u32 [%r3], %r1; @!%p1 ld.shared.u32 %r4, [%r3];"
    "mov.u32 %r5, %ctaid.x; add.s32 %r5, %r5, %r0; setp.eq.u32 %p2, %r5, 3; @%p2 trap;",
    emulator::shared_words);

TEST(WordRacesOfLaunches, AddUpAndForgetALaunchThatFails) {
    emulator::Runner r(failing);
    Watch watch(r.machine);
    r.observer = &watch;
    const emulator::LaunchShape three{{3, 1, 1}, {64, 1, 1}, 0};
    r.run(three);
    EXPECT_EQ(watch.racing().at("cell"), words(0, 32, 3));
    EXPECT_NE(emulator::error_of([&] { r.run(three, 1); }), "");
    r.run(three);
    EXPECT_EQ(watch.racing().at("cell"), words(0, 32, 6));
}

TEST(WordRacesOfLaunches, DoNotDependOnTheNumberOfThreads) {
    for (const unsigned threads : {1u, 2u, 5u, 29u}) {
        emulator::Runner r(failing);
        Watch watch(r.machine);
        r.observer = &watch;
        r.settings.threads = threads;
        r.run({{50, 1, 1}, {64, 1, 1}, 0}, 100);
        EXPECT_EQ(watch.racing().at("cell"), words(0, 32, 50)) << threads;
    }
}

TEST(WordRacesOfLaunches, AreUnknownWithoutTheRaceCheck) {
    emulator::Runner r(failing);
    emulator::HeatMap heat(r.machine.memory());
    r.observer = &heat;
    r.run(emulator::one_block(64));
    ASSERT_EQ(heat.kernels().size(), 1u);
    EXPECT_FALSE(heat.kernels()[0].has_races);
    EXPECT_EQ(heat.kernels()[0].arrays.at(0).count(HeatFigure::races, 0), 0u);
}

/// Hazards of a block of 64 threads, each of which adds to its own word of global memory before a
/// barrier, and then does this with the words at %rd1, its own, and %rd2, one of the other warp.
std::uint64_t hazards_behind_atomics(const std::string& body, emulator::LaunchSettings settings) {
    emulator::Runner r(emulator::kernel_text(
        "mov.u32 %r2, 63; sub.u32 %r2, %r2, %r1; mul.wide.u32 %rd2, %r2, 4;"
        "add.s64 %rd2, %rd0, %rd2; red.global.add.u32 [%rd1], 1; bar.sync 0;" +
        body));
    Watch watch(r.machine);
    r.settings = settings;
    r.observer = &watch;
    r.run(emulator::one_block(64));
    return watch.hazards();
}

TEST(AtomicsOfGlobalMemory, RaceWithAccessesUpToTheNextBarrier) {
    for (const emulator::LaunchSettings& settings : schedules(3)) {
        const auto hazards = [&](const std::string& body) {
            return hazards_behind_atomics(body, settings);
        };
        EXPECT_EQ(hazards("ld.global.u32 %r3, [%rd2];"), 0u);
        EXPECT_EQ(hazards("st.global.u32 [%rd2], %r1;"), 0u);
        EXPECT_EQ(hazards("ld.global.u32 %r3, [%rd2]; red.global.add.u32 [%rd1], 1;"), 64u);
        EXPECT_EQ(hazards("st.global.u32 [%rd2], %r1; red.global.add.u32 [%rd1], 1;"), 64u);
        EXPECT_EQ(hazards("ld.global.u32 %r3, [%rd2]; bar.sync 0; red.global.add.u32 [%rd1], 1;"),
                  0u);
        EXPECT_EQ(hazards("red.global.add.u32 [%rd1], 1; bar.sync 0; st.global.u32 [%rd2], %r1;"
                          "bar.sync 0; red.global.add.u32 [%rd2], 1;"),
                  0u);
    }
}

}  // namespace
}  // namespace warpscope::tests
