#pragma once

#include "experiments/framework/experiment.h"
#include "ui/widgets/box.h"
#include "ui/widgets/view_options.h"

namespace warpscope::ui {

/// Where the panels are in a window. The microscope's four are empty while it is closed; while it
/// or the editor is open there are no results.
struct Layout {
    Box top, controls, transport, canvas, results, editor, dock, foot;
    Box microscope, source, warps, tile;
    Box left_edge, right_edge, lower_edge;  ///< borders that can be dragged
};

/// `width` and `height` in layout units, `scale` of them to a logical pixel. In a window too small
/// for the sizes chosen, every panel gives way.
Layout lay_out(float width, float height, float scale, const ViewOptions& options,
               bool microscope = false);

/// Layout units a logical pixel in a screenshot of this size: 2 for 4K, else 1.
float screenshot_scale(experiments::Size window);

/// Pixels that a screenshot of this size leaves for the picture.
experiments::Size picture_area(experiments::Size window, bool microscope = false);

}  // namespace warpscope::ui
