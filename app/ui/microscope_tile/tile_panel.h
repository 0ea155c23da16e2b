#pragma once

#include "ui/microscope/microscope.h"
#include "ui/microscope_tile/tile_grid.h"
#include "ui/widgets/ui.h"

namespace warpscope::ui {

/// How a person chose to see the grid.
struct TileLook {
    TileColour colour = TileColour::value;
    unsigned words_in_row = 0;  ///< 0: usual_row() words
};

/// The shared memory of the microscope's block as a grid of words.
class TilePanel {
  public:
    explicit TilePanel(Microscope& microscope) : microscope_(microscope) {}

    void draw(Ui& ui);

  private:
    Microscope& microscope_;
    TileLook look_;
};

}  // namespace warpscope::ui
