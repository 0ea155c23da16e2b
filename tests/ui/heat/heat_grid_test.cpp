#include "ui/heat/heat_panel.h"

#include <gtest/gtest.h>

namespace warpscope::ui {
namespace {

using emulator::HeatArray;
using emulator::HeatFigure;
using emulator::LaunchShape;

HeatArray shared_array(std::uint64_t begin, std::uint64_t bytes) {
    return {.name = "tile", .shared = true, .begin = begin, .bytes = bytes};
}

TEST(HeatLayout, AColumnOfSharedMemoryIsABank) {
    // Bytes 144 to 655: word 0 of the array is in bank 4.
    const HeatLayout layout = shared_layout(shared_array(144, 512), {1000, 100}, 1);
    EXPECT_EQ(layout.words, 128u);
    EXPECT_EQ(layout.columns(), 32u);
    EXPECT_EQ(layout.rows(), 5u);
    EXPECT_EQ(layout.cell_of(0), 4u);
    EXPECT_EQ(layout.cell_of(27), 31u);
    EXPECT_EQ(layout.cell_of(28), 32u);
    EXPECT_EQ(layout.cell_of(127), 4u * 32 + 3);
    EXPECT_EQ(layout.width, 31);
    EXPECT_EQ(layout.height, 18);
    // 128 rows have no room: they get the least height, and the panel scrolls.
    EXPECT_EQ(shared_layout(shared_array(0, 16384), {1000, 100}, 1).height, 7);
}

TEST(HeatLayout, ARowOfABufferIsARowOfTheGridOfThreads) {
    LaunchShape launch{{4, 4, 1}, {16, 16, 1}, 0};
    EXPECT_EQ(row_of(launch, 64 * 64), 64u);
    EXPECT_EQ(row_of(launch, 64 * 64 + 1), 0u);
    EXPECT_EQ(row_of(launch, 64), 0u) << "one row";
    launch = {{16, 1, 1}, {256, 1, 1}, 0};
    EXPECT_EQ(row_of(launch, 4096), 0u);
}

TEST(HeatLayout, ACellStandsForSeveralWordsWhereThereIsNoRoom) {
    // 64 rows in 128 pixels: 2 pixels for a row, 4 for two rows.
    const HeatLayout image = global_layout(64 * 64, 64, {1000, 128}, 1);
    EXPECT_EQ(image.across, 2u);
    EXPECT_EQ(image.down, 2u);
    EXPECT_EQ(image.columns(), 32u);
    EXPECT_EQ(image.rows(), 32u);
    EXPECT_EQ(image.width, 4);
    EXPECT_EQ(image.cell_of(0), image.cell_of(64 + 1));
    EXPECT_EQ(image.cell_of(2), 1u);
    EXPECT_EQ(image.cell_of(2 * 64), 32u);

    // 1000 x 100 pixels have 224 x 25 cells of 4 pixels: 5600 cells, so 4 words each.
    const HeatLayout line = global_layout(16384, 0, {900, 100}, 1);
    EXPECT_EQ(line.across, 4u);
    EXPECT_EQ(line.down, 1u);
    EXPECT_EQ(line.columns(), 224u);
    EXPECT_EQ(line.row, 896u);
    EXPECT_LE(line.rows(), 25u);
    const HeatLayout few = global_layout(64, 0, {900, 100}, 1);
    EXPECT_EQ(few.across, 1u);
    EXPECT_EQ(few.width, 18);
}

TEST(HeatLayout, HasACellForEachWordInATinyPanel) {
    for (const std::uint64_t row : {0u, 64u}) {
        const HeatLayout layout = global_layout(64 * 64, row, {1, 1}, 1);
        for (std::uint64_t word = 0; word < 64 * 64; ++word)
            ASSERT_LT(layout.cell_of(word), layout.columns() * layout.rows());
    }
}

TEST(HeatCells, NameTheHottestOfTheirWords) {
    HeatArray array{.name = "", .shared = false, .begin = 4096, .bytes = 16 * 16 * 4};
    auto& reads = array.counts[std::size_t(HeatFigure::reads)];
    reads.add(0, 256, 1);
    reads.add(17, 1, 9);
    HeatLayout layout{.words = 256, .row = 16, .across = 2, .down = 2};
    const std::vector<HeatCell> cells = heat_cells(array, HeatFigure::reads, layout);
    ASSERT_EQ(cells.size(), 64u);
    EXPECT_EQ(cells[0].words, 4u);
    EXPECT_EQ(cells[0].hottest, 17u) << "in the second row";
    EXPECT_EQ(cells[0].most, 10u);
    EXPECT_EQ(cells[0].sum, 13u);
    EXPECT_EQ(cells[63].first, 14u * 16 + 14);
    EXPECT_EQ(cells[63].sum, 4u);
    EXPECT_EQ(heat_cells(array, HeatFigure::writes, layout)[0].most, 0u);
}

// Relative luminance (WCAG), without the gamma curve: enough to compare.
double lightness(ImU32 colour) {
    return 0.2126 * double(colour & 0xFF) + 0.7152 * double(colour >> 8 & 0xFF) +
           0.0722 * double(colour >> 16 & 0xFF);
}

TEST(HeatColour, GetsLighterWithTheCount) {
    for (int step = 0; step < 32; ++step)
        EXPECT_LT(lightness(heat_colour(step / 32.0)), lightness(heat_colour((step + 1) / 32.0)))
            << step;
    EXPECT_EQ(heat_colour(-1), heat_colour(0));
    EXPECT_EQ(heat_colour(1), IM_COL32(253, 231, 37, 255));
}

}  // namespace
}  // namespace warpscope::ui
