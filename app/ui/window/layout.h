#pragma once

#include <map>
#include <string>
#include <vector>

#include "experiments/framework/experiment.h"
#include "ui/widgets/box.h"
#include "ui/widgets/view_options.h"

namespace warpscope::ui {

/// Below this width in logical pixels, controls and results are drawers over the picture.
inline constexpr float narrow_width = 1000;

/// The places of the panels in a window. A panel that is not on show has an empty box: the four of
/// the microscope while it is closed, the results while the microscope is open. Beside the editor
/// and in a narrow window the results are a strip below the picture.
struct Layout {
    Box top, controls, transport, canvas, results, strip, editor, dock, foot;
    Box microscope, source, warps, tile;
    Box lessons;                            ///< the column on the left of everything else
    Box caption;                            ///< the foot of a presentation
    Box left_edge, right_edge, lower_edge;  ///< borders that can be dragged
    /// Strips in the places of the controls and of the results that a person has folded.
    Box left_fold, right_fold;
    bool narrow = false;  ///< controls and results are drawers
    /// Only the dock's tabs and a line of timings are shown.
    bool folded = false;
};

/// The panels that can fill the window, by name, with the bar above them where they have one.
std::map<std::string, std::vector<Box*>> panels_to_maximize(Layout& layout);

/// Lays out a window of `width` × `height` layout units; `scale` is layout units per logical pixel.
/// In a window that is too small for the chosen sizes, every panel is reduced.
Layout lay_out(float width, float height, float scale, const ViewOptions& options,
               bool microscope = false);

/// How much larger than usual everything is in a presentation, in a window of this height in
/// logical pixels: on any screen the letters have nearly equal shares of the height. `wish`: how
/// much larger a person wants everything.
float presentation_scale(float height, float wish);

/// Framebuffer pixels per layout unit of a window: 1, or up to the content scale where the desktop
/// scales. The two widths may be of different moments, while the window changes its size.
float framebuffer_pixels(float framebuffer_width, float window_width, float content_scale);

/// Layout units per logical pixel in a screenshot of this size: 1 below 3200 × 1800, 2 for 4K.
float screenshot_scale(experiments::Size window);

/// Returns the pixels of the picture's area in a screenshot of this size.
experiments::Size picture_area(experiments::Size window, bool microscope = false);

}  // namespace warpscope::ui
