#include <ostream>

#include "race_kernels.h"

namespace warpscope::tests {
namespace {

using emulator::Finding;
using emulator::FindingKind;
using emulator::Hazard;
using emulator::Severity;

/// The findings of a kernel of kernels.cu, under every schedule.
struct Races {
    std::string kernel;
    std::uint32_t threads;
    std::uint64_t errors = 0;    ///< races between warps
    std::uint64_t warnings = 0;  ///< races within a warp
    std::uint64_t unwritten = 0;
    std::uint64_t notes = 0;        ///< races of equal values
    bool unwritten_varies = false;  ///< the schedule decides whether a read comes before its write
};

std::ostream& operator<<(std::ostream& out, const Races& e) {
    return out << e.kernel;
}

class RaceKernels : public testing::TestWithParam<Races> {};

TEST_P(RaceKernels, HaveExactlyTheExpectedHazards) {
    const Races& expected = GetParam();
    for (const emulator::LaunchSettings& settings : schedules()) {
        const auto found = check_kernel(expected.kernel, expected.threads, settings);
        SCOPED_TRACE(testing::Message()
                     << "schedule " << int(settings.schedule) << ", seed " << settings.seed << "\n"
                     << sentences(found));
        EXPECT_EQ(count(found, FindingKind::race, Severity::error), expected.errors);
        EXPECT_EQ(count(found, FindingKind::race, Severity::warning), expected.warnings);
        EXPECT_EQ(count(found, FindingKind::race, Severity::note), expected.notes);
        if (!expected.unwritten_varies) {
            EXPECT_EQ(count(found, FindingKind::uninitialized, Severity::error),
                      expected.unwritten);
        }
    }
}

INSTANTIATE_TEST_SUITE_P(
    Suite, RaceKernels,
    testing::Values(
        // Each word has one reader, in the other warp.
        Races{"mirror_no_barrier", 64, 64, 0, 0, 0, true},
        Races{"mirror_no_barrier", 256, 256, 0, 0, 0, true}, Races{"mirror", 256},
        // Rounds 1 and 2 overwrite words that rounds 0 and 1 read.
        Races{"rounds_one_barrier_short", 64, 2 * 64}, Races{"rounds", 64},
        Races{"double_buffered", 128},
        // Every thread reads a word that another lane wrote.
        Races{"neighbour_no_syncwarp", 64, 0, 64}, Races{"neighbour", 64},
        Races{"neighbour_shuffle", 64, 0, 64}, Races{"neighbour_half_warps", 64},
        Races{"other_half_half_warps", 64, 0, 64}, Races{"branches", 64, 0, 32, 0, 0, true},
        // In each step after the first, with offset o, 32 - o lanes read a word that another lane
        // wrote in the step before, and 32 - o lanes overwrite a word that another lane has read.
        // At the end all lanes but lane 0 read word 0: 2 * (16 + 24 + 28 + 30 + 31) + 31.
        Races{"last_warp_in_step", 64, 0, 2 * 129 + 31}, Races{"last_warp", 64},
        // In each warp 31 lanes conflict with the first lane; then 32 lanes with the other warp.
        Races{"one_word_many_values", 64, 94, 0}, Races{"one_word_one_value", 64, 0, 0, 0, 94},
        Races{"one_word_one_value", 32, 0, 0, 0, 31}, Races{"first_lanes_write", 64, 1},
        Races{"byte_neighbours", 64}, Races{"byte_of_neighbour", 64, 64, 0, 0, 0, true},
        // 16 words of 4 threads each.
        Races{"word_of_bytes", 64, 64, 0, 0, 0, true},
        // A conflict of all 8 bytes with one thread counts once.
        Races{"vector_no_barrier", 64, 64, 0, 0, 0, true}, Races{"histogram", 256},
        // Each read conflicts with an addition by the other warp; each of 32 words has two reads.
        Races{"histogram_no_barrier", 64, 64}, Races{"hand_over", 128},
        Races{"hand_over_and_on", 128, 32}, Races{"pairs", 128},
        Races{"wrong_pairs", 128, 128, 0, 0, 0, true}, Races{"unwritten", 64, 0, 0, 8}),
    [](const auto& info) { return info.param.kernel + "_" + std::to_string(info.param.threads); });

TEST(RaceFindings, NameLinesThreadsAndTheMissingBarrier) {
    const auto found =
        check_kernel("mirror_no_barrier", 64, {.schedule = emulator::Schedule::reverse});
    // Warp 1 runs to its end first and reads words that are not written yet. Then warp 0 overwrites
    // these words and reads words that warp 1 wrote.
    ASSERT_EQ(found.size(), 3u) << sentences(found);
    EXPECT_EQ(count(found, Hazard::read_after_write), 32u);
    EXPECT_EQ(count(found, Hazard::write_after_read), 32u);
    for (const Finding& f : found) {
        EXPECT_EQ(f.kernel, "mirror_no_barrier");
        EXPECT_EQ(f.first.file, "kernels/kernels.cu");
        if (f.kind != FindingKind::race) continue;
        ASSERT_TRUE(f.second);
        const Finding& g = f;
        const emulator::ThreadAtLine& writer =
            f.hazard == Hazard::read_after_write ? g.first : *g.second;
        const emulator::ThreadAtLine& reader =
            f.hazard == Hazard::read_after_write ? *g.second : g.first;
        EXPECT_EQ(writer.line + 1, reader.line);
        EXPECT_EQ(writer.thread.x, 63 - reader.thread.x);
        EXPECT_EQ(f.byte, writer.thread.x * 4);
        EXPECT_NE(f.sentence.english().find("__syncthreads() is missing between " + writer.where() +
                                            " and " + reader.where()),
                  std::string::npos)
            << f.sentence.english();
    }
}

TEST(RaceFindings, BeginWithTheReadThatGetsTheWrongValue) {
    for (const emulator::LaunchSettings& settings : schedules()) {
        const auto found = check_kernel("mirror_no_barrier", 256, settings);
        ASSERT_GE(found.size(), 2u) << sentences(found);
        // Words that were read before they were written, then, of one of their reads, that no
        // thread had written the word; reads after the write got the right value.
        EXPECT_TRUE(found[0].misread()) << sentences(found);
        EXPECT_EQ(found[0].hazard, Hazard::write_after_read);
        EXPECT_EQ(&found[0].place(), &found[0].first);
        EXPECT_EQ(found[1].kind, FindingKind::uninitialized);
        for (std::size_t i = 2; i < found.size(); ++i) {
            EXPECT_EQ(found[i].hazard, Hazard::read_after_write);
            EXPECT_FALSE(found[i].misread());
            EXPECT_EQ(&found[i].place(), &*found[i].second);
        }
    }
}

TEST(RaceFindings, AReadAfterTheWriteOfTheNextRoundComesTooLate) {
    // Warp 0 runs ahead to the next barrier: it overwrites its words before warp 1 reads them.
    const auto found = check_kernel("rounds_one_barrier_short", 64,
                                    {.schedule = emulator::Schedule::run_to_barrier});
    ASSERT_FALSE(found.empty());
    const Finding& late = found.front();
    EXPECT_TRUE(late.misread()) << late.sentence.english();
    EXPECT_EQ(late.hazard, Hazard::read_after_write);
    EXPECT_EQ(late.place().thread.x / 32, 1u);
    EXPECT_EQ(late.first.thread.x, late.place().thread.x - 32);
    EXPECT_NE(late.sentence.english().find("had overwritten it"), std::string::npos)
        << late.sentence.english();
    EXPECT_NE(late.sentence.english().find("missing between " + late.second->where() + " and " +
                                           late.first.where()),
              std::string::npos)
        << late.sentence.english();
}

TEST(RaceFindings, DoNotSayBeforeForAWriteOfTheNextIteration) {
    const auto found =
        check_kernel("rounds_one_barrier_short", 64, {.schedule = emulator::Schedule::reverse});
    // In program order the read comes before the write of the next round, so the sentence must not
    // say that the thread read too early.
    ASSERT_EQ(found.size(), 2u) << sentences(found);
    for (const Finding& f : found)
        EXPECT_EQ(f.sentence.english().find("before"), std::string::npos) << f.sentence.english();
}

TEST(RaceFindings, WithinAWarpNameTheMissingSyncwarp) {
    const auto found = check_kernel("neighbour_no_syncwarp", 32, {});
    ASSERT_EQ(found.size(), 1u) << sentences(found);
    EXPECT_EQ(found[0].severity, Severity::warning);
    EXPECT_EQ(found[0].hazard, Hazard::read_after_write);
    EXPECT_NE(found[0].sentence.english().find("the same warp"), std::string::npos);
    EXPECT_NE(found[0].sentence.english().find("__syncwarp() is missing"), std::string::npos);
}

TEST(RaceFindings, DoNotCompareAccessesOfDifferentBlocks) {
    const auto module = emulator::Module::parse(race_kernels("kernels.ptx"), "races");
    emulator::Machine machine(1);
    emulator::RaceDetector races;
    void* out = machine.memory().allocate(256);
    const void* arguments[] = {&out};
    for (int launch = 0; launch < 2; ++launch)
        machine.run(*module->find("mirror"), {{5, 1, 1}, {64, 1, 1}, 0}, arguments, {}, &races);
    EXPECT_TRUE(races.findings().empty()) << sentences(races.findings());
    // Words that only an earlier block has written count as unwritten.
    machine.run(*module->find("unwritten"), {{5, 1, 1}, {64, 1, 1}, 0}, arguments, {}, &races);
    EXPECT_EQ(count(races.findings(), FindingKind::uninitialized, Severity::error), 5u * 8);
}

}  // namespace
}  // namespace warpscope::tests
