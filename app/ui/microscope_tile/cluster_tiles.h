#pragma once

#include "ui/microscope/microscope.h"
#include "ui/microscope_tile/tile_grid.h"
#include "ui/widgets/ui.h"

namespace warpscope::ui {

/// Draws the shared memory of the other blocks of the cluster, side by side, in the colours of the
/// tile. A click steps that block instead. Nothing for a block that runs alone.
void draw_cluster_tiles(Ui& ui, Microscope& microscope, TileColour by);

}  // namespace warpscope::ui
