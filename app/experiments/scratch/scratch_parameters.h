#pragma once

#include "experiments/framework/parameter.h"

namespace warpscope::experiments {

struct ScratchParameters : ParameterSet {
    ScratchParameters();
    std::string kernel_file() const override { return "gallery/" + start.text(); }
    double work() const override;

    /// The mouse is at most this far from the picture's top left corner, in pixels.
    static constexpr double farthest_mouse = 1 << 16;

    Choice start;
    Integer width, height;
    Real mouse_x, mouse_y;
    Toggle mouse_down;
};

}  // namespace warpscope::experiments
