#include "ui/microscope/banks_panel.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace warpscope::ui {
namespace {

using emulator::AccessView;

AccessView access(std::uint32_t bytes, std::uint64_t (*address)(unsigned),
                  std::uint32_t mask = 0xffffffff) {
    AccessView view;
    view.mask = mask;
    view.bytes = bytes;
    for (unsigned lane = 0; lane < 32; ++lane) view.addresses[lane] = address(lane);
    return view;
}

std::size_t conflicts(const BankPicture& picture) {
    return std::size_t(std::count_if(picture.lines.begin(), picture.lines.end(),
                                     [](const BankLine& line) { return line.conflict; }));
}

TEST(BankLines, AdjacentLanesUseDifferentBanks) {
    const BankPicture p =
        bank_picture(access(4, [](unsigned lane) -> std::uint64_t { return lane * 4; }));
    ASSERT_EQ(p.lines.size(), 32U);
    EXPECT_EQ(p.lines[7].lane, 7U);
    EXPECT_EQ(p.lines[7].bank, 7U);
    EXPECT_EQ(conflicts(p), 0U);
    EXPECT_EQ(p.sentence, "No conflict: 1 pass");
}

// tile[tx][ty] of 16 floats a row: lane = tx + 16 * ty of two rows ty, word = 16 * tx + ty. Even tx
// fall on banks ty, odd ones on banks 16 + ty: four banks of eight words each.
TEST(BankLines, TransposedTileHasEightWayConflicts) {
    const BankPicture p = bank_picture(
        access(4, [](unsigned lane) -> std::uint64_t { return (lane % 16 * 16 + lane / 16) * 4; }));
    EXPECT_EQ(conflicts(p), 32U);
    EXPECT_EQ(p.degree, 8U);
    for (unsigned bank = 0; bank < 32; ++bank)
        EXPECT_EQ(p.words[bank], bank % 16 < 2 ? 8U : 0U) << bank;
    EXPECT_EQ(p.lanes[0], 0x00005555U);   // even tx of the first row
    EXPECT_EQ(p.lanes[17], 0xaaaa0000U);  // odd tx of the second
    EXPECT_EQ(p.sentence, "8-way conflict: 8 passes where 1 would be enough");
}

TEST(BankLines, LanesThatShareAWordDoNotConflict) {
    const BankPicture p = bank_picture(access(4, [](unsigned) -> std::uint64_t { return 128; }));
    EXPECT_EQ(conflicts(p), 0U);
    EXPECT_EQ(p.words[0], 1U);
    EXPECT_EQ(p.sentence, "All 32 lanes share one address: 1 pass");
}

// Halves of a warp are served one after the other, so lanes 0 and 16 never meet.
TEST(BankLines, EightByteAccessesTakeAPassForEachHalfWarp) {
    const BankPicture p =
        bank_picture(access(8, [](unsigned lane) -> std::uint64_t { return lane * 8; }));
    EXPECT_EQ(p.lines.size(), 64U);
    EXPECT_EQ(conflicts(p), 0U);
    EXPECT_EQ(p.lanes[1], 1U | 1U << 16);
    EXPECT_EQ(p.sentence, "No conflict: 2 passes");
}

// Neighbours that share an 8-byte word let the whole warp be served at once, and then meet.
TEST(BankLines, PairsOfLanesConflictOverTheWholeWarp) {
    const BankPicture p =
        bank_picture(access(8, [](unsigned lane) -> std::uint64_t { return lane / 2 * 128; }));
    EXPECT_EQ(p.degree, 16U);
    EXPECT_EQ(p.words[0], 16U);
    EXPECT_EQ(p.sentence, "16-way conflict: 16 passes where 1 would be enough");
}

TEST(BankLines, OnlyActiveLanesHaveLines) {
    const BankPicture p = bank_picture(access(
        4, [](unsigned lane) -> std::uint64_t { return lane * 128; }, 0x00000005));
    ASSERT_EQ(p.lines.size(), 2U);
    EXPECT_EQ(p.lines[1].lane, 2U);
    EXPECT_EQ(p.sentence, "2-way conflict: 2 passes where 1 would be enough");
    EXPECT_EQ(bank_picture(access(
                               4, [](unsigned) -> std::uint64_t { return 0; }, 0))
                  .sentence,
              "No lane takes part.");
}

}  // namespace
}  // namespace warpscope::ui
