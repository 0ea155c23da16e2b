#pragma once

#include "experiments/framework/experiment.h"
#include "ui/widgets/box.h"
#include "ui/widgets/view_options.h"

namespace warpscope::ui {

/// The places of the panels in a window. The four boxes of the microscope are empty while it is
/// closed. `results` is empty while the microscope or the editor is open.
struct Layout {
    Box top, controls, transport, canvas, results, editor, dock, foot;
    Box microscope, source, warps, tile;
    Box left_edge, right_edge, lower_edge;  ///< borders that can be dragged
};

/// Lays out a window of `width` × `height` layout units; `scale` is layout units per logical pixel.
/// In a window that is too small for the chosen sizes, every panel is reduced.
Layout lay_out(float width, float height, float scale, const ViewOptions& options,
               bool microscope = false);

/// Layout units per logical pixel in a screenshot of this size: 1 below 3200 × 1800, 2 for 4K.
float screenshot_scale(experiments::Size window);

/// Pixels of the picture's area in a screenshot of this size.
experiments::Size picture_area(experiments::Size window, bool microscope = false);

}  // namespace warpscope::ui
