#include "ui/microscope_tile/tile_grid.h"

#include <gtest/gtest.h>

#include <bit>
#include <cstring>
#include <limits>

#include "ui/widgets/theme.h"

namespace warpscope::ui {
namespace {

using emulator::WordView;

WordView written(std::int32_t by, std::uint32_t epoch = 0) {
    WordView word;
    word.writer = by;
    word.write_epoch = epoch;
    return word;
}

template <class T>
std::vector<std::byte> bytes_of(const std::vector<T>& values) {
    std::vector<std::byte> bytes(values.size() * sizeof(T));
    std::memcpy(bytes.data(), values.data(), bytes.size());
    return bytes;
}

unsigned brightness(ImU32 colour) {
    return (colour >> IM_COL32_R_SHIFT & 255) + (colour >> IM_COL32_G_SHIFT & 255) +
           (colour >> IM_COL32_B_SHIFT & 255);
}

TEST(TileGrid, ValuesGoFromDarkToBright) {
    const auto shared = bytes_of<float>({-1, 0, 3, 1e9F});
    // The last one is what another block left there: it is no part of the range.
    const std::vector<WordView> words{written(0), written(1), written(2), WordView()};
    const auto colours = tile_colours(TileColour::value, WordType::real, shared, words, 0);
    EXPECT_LT(brightness(colours[0]), brightness(colours[1]));
    EXPECT_LT(brightness(colours[1]), brightness(colours[2]));
    EXPECT_LT(brightness(colours[3]), brightness(colours[0]));
}

TEST(TileGrid, OneOutlierLeavesTheOtherValuesDistinct) {
    std::vector<float> values(100, 0.F);
    for (std::size_t i = 0; i < 99; ++i) values[i] = float(i);
    values[99] = 1e30F;
    const std::vector<WordView> words(100, written(0));
    const auto colours =
        tile_colours(TileColour::value, WordType::real, bytes_of(values), words, 0);
    EXPECT_LT(brightness(colours[10]) + 100, brightness(colours[90]));
    EXPECT_GE(brightness(colours[99]), brightness(colours[98]));
}

TEST(TileGrid, AWordOfARingIsFreeInFlightLandedReadOrOverwritten) {
    WordView word;
    EXPECT_EQ(state_of(word), WordState::free);
    word.copy = WordView::Copy::in_flight;
    EXPECT_EQ(state_of(word), WordState::in_flight);
    word.copy = WordView::Copy::landed;
    word.writer = 3;
    EXPECT_EQ(state_of(word), WordState::landed);
    word.is_read = true;
    EXPECT_EQ(state_of(word), WordState::read);
    word.hazard = true;
    EXPECT_EQ(state_of(word), WordState::overwritten);
    const std::vector<WordView> words{WordView(), word};
    const auto colours = tile_colours(TileColour::state, WordType::real, {}, words, 0);
    EXPECT_EQ(colours[0], state_colour(WordState::free));
    EXPECT_EQ(colours[1], state_colour(WordState::overwritten));
}

TEST(TileGrid, ColoursDependOnTheTypeOfTheWords) {
    const auto shared = bytes_of<float>({-1, 3});
    const std::vector<WordView> words{written(0), written(1)};
    const auto colours = tile_colours(TileColour::value, WordType::natural, shared, words, 0);
    EXPECT_GT(brightness(colours[0]), brightness(colours[1]));  // the sign is the highest bit
}

TEST(TileGrid, EqualAndInfiniteValuesHaveColours) {
    const auto shared = bytes_of<float>({2, 2, std::numeric_limits<float>::quiet_NaN()});
    const std::vector<WordView> words{written(0), written(1), written(2)};
    const auto colours = tile_colours(TileColour::value, WordType::real, shared, words, 0);
    EXPECT_EQ(colours[0], colours[1]);
    EXPECT_NE(colours[2], colours[0]);
}

TEST(TileGrid, WritersHaveTheColoursOfTheirWarps) {
    const auto shared = bytes_of<unsigned>({0, 0, 0});
    const std::vector<WordView> words{written(31), written(32), WordView()};
    const auto colours = tile_colours(TileColour::writer, WordType::natural, shared, words, 0);
    EXPECT_EQ(colours[0], warp_colour(0));
    EXPECT_EQ(colours[1], warp_colour(1));
    EXPECT_NE(colours[2], warp_colour(0));
}

TEST(TileGrid, OlderEpochsAreDarker) {
    const auto shared = bytes_of<unsigned>({0, 0, 0});
    const std::vector<WordView> words{written(0, 2), written(0, 1), written(0, 0)};
    const auto colours = tile_colours(TileColour::epoch, WordType::natural, shared, words, 2);
    EXPECT_EQ(colours[0], colour::accent);
    EXPECT_GT(brightness(colours[0]), brightness(colours[1]));
    EXPECT_GT(brightness(colours[1]), brightness(colours[2]));
}

TEST(TileGrid, RowLengthFollowsATwoDimensionalBlock) {
    EXPECT_EQ(usual_row({16, 16, 1}, 256), 16U);
    EXPECT_EQ(usual_row({16, 16, 1}, 16 * 17), 17U);  // padded: the padding is a column
    EXPECT_EQ(usual_row({16, 16, 1}, 512), 32U);      // eight-byte words
    EXPECT_EQ(usual_row({256, 1, 1}, 256), 32U);
    EXPECT_EQ(usual_row({16, 16, 1}, 250), 32U);
    EXPECT_EQ(usual_row({32, 32, 1}, 8192), 32U);  // 256 a row would be no picture
}

TEST(TileGrid, WordsHaveTheTypeOfTheKernelsAccesses) {
    emulator::Kernel kernel;
    kernel.lines.resize(2);
    kernel.lines[0].access = emulator::MemoryAccess::load;
    kernel.lines[0].space = emulator::Space::global;
    kernel.lines[0].text = "ld.global.f32 %f1, [%rd1]";
    kernel.lines[1].access = emulator::MemoryAccess::store;
    kernel.lines[1].space = emulator::Space::shared;
    kernel.lines[1].text = "st.shared.u32 [%r1], %r2";
    EXPECT_EQ(word_type(kernel), WordType::natural);
    kernel.lines[1].text = "st.shared.v4.f32 [%r1], {%f1, %f2, %f3, %f4}";
    EXPECT_EQ(word_type(kernel), WordType::real);
    EXPECT_EQ(word_text(WordType::real, 0x3fc00000), "1.5");
    EXPECT_EQ(word_text(WordType::natural, 0xff00ff00), "4278255360");
}

TEST(TileGrid, BytesBeyondTheEndAreZero) {
    const auto shared = bytes_of<std::uint8_t>({1, 2, 3, 4, 5, 6});
    EXPECT_EQ(word_bits(shared, 0), 0x04030201U);
    EXPECT_EQ(word_bits(shared, 1), 0x0605U);
    EXPECT_EQ(word_bits(shared, 2), 0U);
}

TEST(TileGrid, AnAccessTouchesEachWordOnce) {
    emulator::AccessView access;
    access.mask = 0x0b;  // lanes 0, 1, 3
    access.bytes = 8;
    access.addresses[0] = 16;
    access.addresses[1] = 20;
    access.addresses[2] = 400;
    access.addresses[3] = 16;
    EXPECT_EQ(words_of(access), (std::vector<std::size_t>{4, 5, 6}));
    access.bytes = 1;
    EXPECT_EQ(words_of(access), (std::vector<std::size_t>{4, 5}));
}

}  // namespace
}  // namespace warpscope::ui
