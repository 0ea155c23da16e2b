#include <ostream>

#include "emulator/program/error.h"
#include "emulator/stepper/finding_step.h"
#include "grid_forks.h"
#include "race_kernels.h"

/// Races in global memory: of the threads of a block, and between blocks.
namespace warpscope::tests {
namespace {

using emulator::Finding;
using emulator::FindingKind;
using emulator::Hazard;
using emulator::Severity;

/// Checks a kernel of grid.cu.
GridFindings check_grid(const std::string& kernel, std::uint32_t blocks, unsigned forks = 1,
                        const emulator::LaunchSettings& settings = {}) {
    // A module of its own, because blocks_done keeps its value.
    const auto module = emulator::Module::parse(race_kernels("grid.ptx"), "races/grid.cu");
    return grid_findings(*module->find(kernel), blocks, {}, forks, settings);
}

/// Words that race between blocks, in every schedule and with any number of forks.
struct ExpectedBetween {
    std::string kernel;
    std::uint32_t blocks;
    std::uint64_t raw = 0, war = 0, waw = 0;
    std::uint64_t notes = 0;
};

std::ostream& operator<<(std::ostream& out, const ExpectedBetween& e) {
    return out << e.kernel;
}

class GridRaceKernels : public testing::TestWithParam<ExpectedBetween> {};

TEST_P(GridRaceKernels, HaveExactlyTheExpectedRacesBetweenBlocks) {
    const ExpectedBetween& e = GetParam();
    for (const emulator::LaunchSettings& settings : schedules(2)) {
        const GridFindings found = check_grid(e.kernel, e.blocks, 1, settings);
        SCOPED_TRACE(sentences(found.between));
        EXPECT_EQ(count(found.between, Hazard::read_after_write), e.raw);
        EXPECT_EQ(count(found.between, Hazard::write_after_read), e.war);
        EXPECT_EQ(count(found.between, Hazard::write_after_write), e.waw);
        EXPECT_EQ(count(found.between, FindingKind::race, Severity::note), e.notes);
        EXPECT_EQ(sentences(found.within), "");
        for (const unsigned forks : {2u, 3u, 5u})
            EXPECT_EQ(sentences(check_grid(e.kernel, e.blocks, forks, settings).between),
                      sentences(found.between))
                << forks;
    }
}

INSTANTIATE_TEST_SUITE_P(
    Suite, GridRaceKernels,
    testing::Values(ExpectedBetween{"one_word_many_values", 7, 0, 0, 1},
                    ExpectedBetween{"one_word_many_values", 1},
                    ExpectedBetween{"one_word_one_value", 7, 0, 0, 1, 1},
                    // Block 0 writes the word that block 1 reads and writes.
                    ExpectedBetween{"increments", 4, 1, 0, 1},
                    ExpectedBetween{"atomic_increments", 8},
                    // Block 0 reads, block 1 adds.
                    ExpectedBetween{"atomics_and_a_read", 3, 0, 1}, ExpectedBetween{"own_words", 8},
                    // The words of all blocks but the first are read by the block before them.
                    ExpectedBetween{"next_block", 6, 0, 5 * 64}, ExpectedBetween{"edges", 8, 7},
                    ExpectedBetween{"bytes_of_a_word", 16},
                    // Blocks 0 and 1 write the vectors that blocks 2 and 3 write, of 4 words each:
                    // one cell has 16 bytes.
                    ExpectedBetween{"vectors", 4, 0, 0, 128}, ExpectedBetween{"last_block", 8},
                    // The last block reads a word of each other block. It may clear the word to
                    // which all have added: its own atomic has observed what they added.
                    ExpectedBetween{"last_block_no_fence", 8, 7},
                    ExpectedBetween{"block_after_block", 5},
                    // Block 2 overwrites the word that block 0 has read and written.
                    ExpectedBetween{"a_link_does_not_release", 3, 0, 1, 1}),
    [](const auto& info) { return info.param.kernel + "_" + std::to_string(info.param.blocks); });

TEST(GridRaces, NameBothThreadsBlocksLinesAndTheWord) {
    const GridFindings found = check_grid("next_block", 3);
    ASSERT_EQ(found.between.size(), 1u);
    const Finding& f = found.between[0];
    EXPECT_EQ(f.severity, Severity::error);
    EXPECT_EQ(f.count, 128u);
    EXPECT_FALSE(f.byte) << "it is no byte of shared memory";
    EXPECT_EQ(f.first.block.x, 0u);
    EXPECT_EQ(f.second->block.x, 1u);
    EXPECT_EQ(f.first.line, f.second->line + 2);
    EXPECT_EQ(&f.place(), &f.first) << "the read";
    EXPECT_EQ(f.sentence,
              "Thread (0,0,0) of block (0,0,0) reads byte 256 of an allocation of 4096 bytes at " +
                  f.first.where() + ", and thread (0,0,0) of block (1,0,0) writes it at " +
                  f.second->where() +
                  ": blocks run in any order, and nothing orders these two: a second launch (or "
                  "grid.sync() in a cooperative one) is missing between " +
                  f.second->where() + " and " + f.first.where() +
                  "; the __syncthreads() between them is for the threads of one block.");
}

TEST(GridRaces, GoOnOverLaunchesThatBelongTogether) {
    const auto module = emulator::Module::parse(race_kernels("grid.ptx"), "races/grid.cu");
    for (const bool together : {false, true}) {
        emulator::Machine machine;
        emulator::GridRaces races;
        void* out = machine.memory().allocate(1024 * 4);
        const void* arguments[] = {&out};
        emulator::FrozenLaunch launch = machine.freeze(
            *module->find("increments"), {{2, 1, 1}, {64, 1, 1}, 0}, arguments, {.threads = 1});
        launch.settings.blocks = 1;
        machine.run(launch, &races);
        EXPECT_TRUE(races.findings().empty()) << "it was one block";
        if (together) races.continue_launch();
        launch.settings.first_block = 1;
        machine.run(launch, &races);
        EXPECT_EQ(races.findings().size(), together ? 2u : 0u);
    }
}

TEST(GridRaces, AFailedLaunchHasTheRacesBelowItsFailingBlock) {
    // Block 3 accesses what is out of bounds, behind the words that it shares with the others.
    const auto module = emulator::Module::parse(race_kernels("grid.ptx"), "races/grid.cu");
    for (const unsigned forks : {1u, 2u, 4u}) {
        emulator::Machine machine;
        emulator::GridRaces races;
        GridForks dealt(races, forks);
        void* out = machine.memory().allocate(4 * 4);  // for blocks 0 to 2
        const void* arguments[] = {&out};
        EXPECT_THROW(machine.run(*module->find("atomics_and_a_read"), {{9, 1, 1}, {64, 1, 1}, 0},
                                 arguments, {.threads = 1}, &dealt),
                     emulator::Error);
        ASSERT_EQ(races.findings().size(), 1u) << forks;
        EXPECT_EQ(races.findings()[0].second->block.x, 1u);
    }
}

TEST(RacesWithinABlock, AreFoundInGlobalMemory) {
    for (const emulator::LaunchSettings& settings : schedules()) {
        const GridFindings found = check_grid("mirror_in_global_memory_no_barrier", 3, 1, settings);
        EXPECT_EQ(sentences(found.between), "");
        EXPECT_EQ(count(found.within, FindingKind::race, Severity::error), 3u * 64)
            << sentences(found.within);
        for (const Finding& f : found.within) EXPECT_FALSE(f.byte);
        EXPECT_NE(found.within.at(0).sentence.english().find("of an allocation of 4096 bytes"),
                  std::string::npos);
        EXPECT_NE(found.within[0].sentence.english().find("__syncthreads() is missing between"),
                  std::string::npos);
        EXPECT_EQ(sentences(check_grid("mirror_in_global_memory", 3, 1, settings).within), "");
        // Warp 1 adds to the words of warp 0: it reads 32 that are written, and overwrites 32 that
        // are read and written.
        const auto histogram =
            check_grid("histogram_in_global_memory_no_atomics", 2, 1, settings).within;
        EXPECT_GE(count(histogram, Hazard::write_after_write), 2u * 32) << sentences(histogram);
    }
}

}  // namespace
}  // namespace warpscope::tests
