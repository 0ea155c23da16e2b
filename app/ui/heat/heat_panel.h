#pragma once

#include <imgui.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "emulator/counters/kernel_heat.h"
#include "ui/stage/stage.h"
#include "ui/widgets/ui.h"

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

inline constexpr float heat_scale_room = 250;  ///< logical pixels

/// Draws the colours from 0 to the highest count, on the line at `top` and left of `right`.
void heat_scale(Ui& ui, const std::string& id, float right, float top, std::uint64_t most);

/// The arrays of the newest checked kernel as cells, coloured by the accesses to their words.
class HeatPanel {
  public:
    explicit HeatPanel(Stage& stage) : stage_(stage) {}

    void draw(Ui& ui);

  private:
    struct Choice {
        const emulator::HeatArray* array = nullptr;
        emulator::HeatFigure figure{};
        bool scale = true;  ///< there is room for the scale of the colours
        bool operator==(const Choice&) const = default;
    };
    /// The cells on show, and what they belong to.
    struct Picture {
        std::shared_ptr<const experiments::Inspection> inspection;
        Choice choice;
        HeatLayout layout;
        std::vector<HeatCell> cells;
        std::uint64_t most = 0;  ///< the highest count of all cells
    };

    /// Draws the widgets above the cells.
    Choice choose(Ui& ui, const emulator::KernelHeat& kernel, float width);
    const emulator::HeatArray& choose_array(Ui& ui, const emulator::KernelHeat& kernel);
    void compute(const Choice& choice, const HeatLayout& layout);
    void grid(Ui& ui, const emulator::KernelHeat& kernel, const Choice& choice);
    void draw_cells(Ui& ui, ImVec2 low) const;
    std::string words_about(const HeatCell& cell) const;

    Stage& stage_;
    /// The names of the newest kernel's arrays, and the inspection that they belong to.
    std::vector<std::string> names_;
    std::shared_ptr<const experiments::Inspection> named_;
    std::string chosen_;  ///< name of the array that a person chose
    emulator::HeatFigure figure_ = emulator::HeatFigure::reads;
    Picture picture_;
};

}  // namespace warpscope::ui
