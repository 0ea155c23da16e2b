#pragma once

#include <imgui.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "emulator/counters/kernel_heat.h"

namespace warpscope::ui {

/// The words of an array as a grid of cells. A cell stands for `across` neighbouring words in each
/// of `down` rows.
struct HeatLayout {
    std::uint64_t words = 0;
    std::uint64_t lead =
        0;  ///< words in the first row before the array, so that a column is a bank
    std::uint64_t row = 32;  ///< words in a row
    std::uint64_t across = 1, down = 1;
    float width = 1, height = 1;  ///< size of a cell, in pixels

    std::size_t columns() const { return std::size_t((row + across - 1) / across); }
    std::size_t rows() const {
        return std::size_t(((lead + words + row - 1) / row + down - 1) / down);
    }
    std::size_t cell_of(std::uint64_t word) const {
        const std::uint64_t at = word + lead;
        return std::size_t(at / row / down * columns() + at % row / across);
    }
    bool operator==(const HeatLayout&) const = default;
};

/// Lays out shared memory with 32 words in a row, so that each column is a bank. `room` in pixels,
/// `unit` pixels to a logical one. The rows may need more than the room.
HeatLayout shared_layout(const emulator::HeatArray& array, ImVec2 room, float unit);

/// Returns the words in a row of a buffer that a two-dimensional grid of threads covers with one
/// thread for each word; 0 for other launches.
std::uint64_t row_of(const emulator::LaunchShape& launch, std::uint64_t words);

/// Lays out global memory within the room, with `row` words in a row; 0: as many as fit. If the
/// words have no room, a cell stands for several.
HeatLayout global_layout(std::uint64_t words, std::uint64_t row, ImVec2 room, float unit);

/// The words of a cell.
struct HeatCell {
    std::uint64_t first = 0;    ///< word
    std::uint64_t words = 0;    ///< 0: the cell stands for none
    std::uint64_t hottest = 0;  ///< the first word with the highest count
    std::uint64_t most = 0;     ///< the highest count
    std::uint64_t sum = 0;
};
std::vector<HeatCell> heat_cells(const emulator::HeatArray& array, emulator::HeatFigure figure,
                                 const HeatLayout& layout);

/// Returns a colour from dark violet for 0 to yellow for 1, with evenly rising lightness (viridis,
/// by Stéfan van der Walt and Nathaniel Smith).
ImU32 heat_colour(double share);

}  // namespace warpscope::ui
