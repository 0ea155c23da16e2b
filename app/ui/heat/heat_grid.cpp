#include "ui/heat/heat_grid.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "emulator/counters/access_counters.h"

namespace warpscope::ui {

namespace {

using emulator::banks;

constexpr float most_height = 18, most_width = 36, least_height = 7;  ///< cells of shared memory
constexpr float most_side = 18, least_side = 4;                       ///< cells of global memory

std::uint64_t fitting(float room, float cell) {
    return std::uint64_t(std::max(1.F, std::floor(room / cell)));
}

std::uint64_t whole(std::uint64_t words, std::uint64_t in_each) {
    return (words + in_each - 1) / in_each;
}

HeatLayout in_rows(std::uint64_t words, std::uint64_t row, ImVec2 room, float unit) {
    HeatLayout layout{.words = words, .row = row};
    const auto fits = [&](float side) {
        return layout.columns() <= fitting(room.x, side) && layout.rows() <= fitting(room.y, side);
    };
    while (!fits(least_side * unit) && layout.across < row) layout.down = ++layout.across;
    float side = most_side * unit;
    while (!fits(side) && side > least_side * unit) side -= 1;
    layout.width = layout.height = std::max(1.F, std::floor(side));
    return layout;
}

HeatLayout as_many_as_fit(std::uint64_t words, ImVec2 room, float unit) {
    HeatLayout layout{.words = words};
    const auto columns = [&](float side) {
        const std::uint64_t fit = fitting(room.x, side);
        return fit >= banks ? fit / banks * banks : fit;
    };
    float side = most_side * unit;
    while (columns(side) * fitting(room.y, side) < words && side > least_side * unit) side -= 1;
    layout.width = layout.height = std::max(1.F, std::floor(side));
    layout.across = std::bit_ceil(whole(words, columns(side) * fitting(room.y, side)));
    layout.row = columns(side) * layout.across;
    return layout;
}

}  // namespace

HeatLayout shared_layout(const emulator::HeatArray& array, ImVec2 room, float unit) {
    HeatLayout layout{.words = array.words(),
                      .lead = array.begin / emulator::WordCounts::word_bytes % banks,
                      .row = banks};
    layout.width = std::floor(std::clamp(room.x / float(banks), 1.F, most_width * unit));
    layout.height = std::floor(std::clamp(room.y / float(std::max<std::size_t>(1, layout.rows())),
                                          least_height * unit, most_height * unit));
    return layout;
}

std::uint64_t row_of(const emulator::LaunchShape& launch, std::uint64_t words) {
    const std::uint64_t width = std::uint64_t(launch.grid.x) * launch.block.x;
    const std::uint64_t height = std::uint64_t(launch.grid.y) * launch.block.y;
    return height > 1 && words % width == 0 && words / width > 1 ? width : 0;
}

HeatLayout global_layout(std::uint64_t words, std::uint64_t row, ImVec2 room, float unit) {
    return row > 0 ? in_rows(words, row, room, unit) : as_many_as_fit(words, room, unit);
}

std::vector<HeatCell> heat_cells(const emulator::HeatArray& array, emulator::HeatFigure figure,
                                 const HeatLayout& layout) {
    std::vector<HeatCell> cells(layout.columns() * layout.rows());
    for (std::uint64_t word = 0; word < layout.words; ++word) {
        HeatCell& cell = cells[layout.cell_of(word)];
        const std::uint64_t count = array.count(figure, word);
        if (cell.words++ == 0) cell.first = cell.hottest = word;
        cell.sum += count;
        if (count > cell.most) {
            cell.most = count;
            cell.hottest = word;
        }
    }
    return cells;
}

ImU32 heat_colour(double share) {
    constexpr std::array<std::array<double, 3>, 9> stops{{{68, 1, 84},
                                                          {71, 45, 123},
                                                          {59, 82, 139},
                                                          {44, 114, 142},
                                                          {33, 145, 140},
                                                          {40, 174, 128},
                                                          {94, 201, 98},
                                                          {173, 220, 48},
                                                          {253, 231, 37}}};
    const double at = std::clamp(share, 0.0, 1.0) * double(stops.size() - 1);
    const auto below = std::min(std::size_t(at), stops.size() - 2);
    const double part = at - double(below);
    std::array<int, 3> mixed{};
    for (std::size_t c = 0; c < 3; ++c)
        mixed[c] = int(std::lround(stops[below][c] * (1 - part) + stops[below + 1][c] * part));
    return IM_COL32(mixed[0], mixed[1], mixed[2], 255);
}

}  // namespace warpscope::ui
