#include <gtest/gtest.h>

#include <algorithm>

#include "emulator/judge.h"

/// Which findings one change of the source repairs.
namespace warpscope::tests {
namespace {

using emulator::BarrierScope;
using emulator::Finding;
using emulator::Hazard;

/// A race between a write at line `write` and a read at line `read`, which the program executes in
/// the order of the lines.
Finding race(Hazard hazard, int write, int read, BarrierScope scope) {
    Finding f;
    f.hazard = hazard;
    f.kernel = "k";
    f.count = 1;
    const bool reads_first = hazard == Hazard::write_after_read;
    f.first = {.file = "k.cu", .line = reads_first ? read : write, .thread = {}, .block = {}};
    f.second = {.file = "k.cu", .line = reads_first ? write : read, .thread = {}, .block = {}};
    f.barrier = {std::min(write, read), std::max(write, read), scope};
    return f;
}

std::size_t number_of_repairs(const std::vector<Finding>& findings) {
    return emulator::by_repair(findings).size();
}

constexpr Hazard raw = Hazard::read_after_write, war = Hazard::write_after_read;

TEST(Repairs, ASecondLaunchIsOneForAllPairsOfLinesAroundIt) {
    constexpr BarrierScope launch = BarrierScope::launch;
    const auto found = emulator::by_repair({race(war, 5, 9, launch), race(raw, 5, 9, launch),
                                            race(raw, 6, 10, launch), race(raw, 10, 12, launch)});
    ASSERT_EQ(found.size(), 2u) << "nothing in front of line 10 repairs the race of 10 and 12";
    EXPECT_EQ(found[0].hazard, raw) << "the plainest pair";
    EXPECT_EQ(found[0].count, 3u);
    EXPECT_EQ(found[0].repaired_too.size(), 2u);
    EXPECT_EQ(words_of_repair(found[0]), "The second launch also repairs:");
    EXPECT_EQ(found[1].repaired_too.size(), 0u);
}

TEST(Repairs, ASecondLaunchKeepsNoSharedMemory) {
    const Finding of_block = race(raw, 4, 8, BarrierScope::block);
    EXPECT_EQ(number_of_repairs({of_block, race(raw, 5, 9, BarrierScope::launch)}), 2u);
    EXPECT_EQ(number_of_repairs({of_block, race(raw, 4, 8, BarrierScope::launch)}), 1u);
    EXPECT_EQ(number_of_repairs({of_block, race(raw, 5, 9, BarrierScope::grid)}), 1u);
}

TEST(Repairs, WordsOrderTheLinesThatUseThem) {
    constexpr BarrierScope words = BarrierScope::words;
    const auto found = emulator::by_repair({race(raw, 5, 9, words), race(war, 5, 9, words)});
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(words_of_repair(found[0]), "The release and acquire also repair:");
    EXPECT_EQ(number_of_repairs({race(raw, 5, 9, words), race(raw, 6, 10, words)}), 2u);
}

}  // namespace
}  // namespace warpscope::tests
