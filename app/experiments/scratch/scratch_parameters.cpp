#include "experiments/scratch/scratch_parameters.h"

#include "experiments/scratch/gallery.h"

namespace warpscope::experiments {

ScratchParameters::ScratchParameters()
    : start(*this, "start", "Start from",
            "The kernel of the gallery from which you start. The race check finds nothing in them, "
            "except in the one that races on purpose.",
            gallery()),
      width(*this, "width", "Width", "Width of the picture, in pixels.", 768, 16, 4096),
      height(*this, "height", "Height", "Height of the picture, in pixels.", 512, 16, 4096),
      mouse_x(
          *this, "mouse_x", "Mouse x",
          "Position of the mouse, in pixels from the left of the picture. Moving the mouse over "
          "the picture sets it.",
          384, -farthest_mouse, farthest_mouse),
      mouse_y(*this, "mouse_y", "Mouse y",
              "Position of the mouse, in pixels from the top of the picture. Moving the mouse over "
              "the picture sets it.",
              256, -farthest_mouse, farthest_mouse),
      mouse_down(*this, "mouse_down", "Mouse button", "Whether the left mouse button is down.",
                 false) {
    group("Kernel", {&start});
    group("Picture", {&width, &height});
    group("Mouse", {&mouse_x, &mouse_y, &mouse_down});
}

double ScratchParameters::work() const {
    constexpr double neighbours = 390, pixel = 175, show = 20;
    const bool heavy = start.text() == "blur" || start.text() == "histogram";
    return double(width * height) * ((heavy ? neighbours : pixel) + show);
}

}  // namespace warpscope::experiments
