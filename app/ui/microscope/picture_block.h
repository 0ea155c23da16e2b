#pragma once

#include "gl/picture_view.h"
#include "ui/microscope/microscope.h"
#include "ui/stage/stage.h"

namespace warpscope::ui {

/// Whether each thread of the open microscope's launch computes one pixel of the stage's picture,
/// in square blocks. The block and the thread then have a place in the picture.
bool has_place_in_picture(const Microscope& microscope, const Stage& stage);

/// Moves the microscope to the block and the thread of a pixel; a pixel outside the picture stands
/// for the nearest one inside. Does nothing where threads have no place in the picture.
void pick_pixel(Microscope& microscope, const Stage& stage, gl::Point pixel);

/// Pauses the experiment and opens the microscope at the block and the thread of a pixel, or at the
/// launch's first block where threads have no place in the picture.
void open_microscope(Microscope& microscope, Stage& stage, gl::Point pixel);

}  // namespace warpscope::ui
