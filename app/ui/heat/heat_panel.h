#pragma once

#include <memory>
#include <string>
#include <vector>

#include "ui/heat/heat_grid.h"
#include "ui/stage/stage.h"
#include "ui/widgets/ui.h"

namespace warpscope::ui {

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
