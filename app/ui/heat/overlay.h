#pragma once

#include <imgui.h>

#include <functional>

#include "experiments/launch/array_picture.h"

namespace warpscope::ui {

/// Makes a texture of this size with a colour for each pixel, to be painted over a picture. It
/// needs a current OpenGL context; the caller deletes it with delete_overlay().
unsigned make_overlay(experiments::Size size, const std::function<ImU32(int x, int y)>& colour);
void delete_overlay(unsigned texture);

/// Whether each pixel of a launch file's picture is an element of the buffer on show.
bool is_picture(launches::BufferView view, const launches::Array& array);

}  // namespace warpscope::ui
