#pragma once

#include <memory>
#include <string>
#include <vector>

#include "experiments/framework/parameter.h"
#include "experiments/launch/launch_plan.h"

namespace warpscope::experiments {

/// A parameter for each scalar of a launch file that is a number, and those that choose the view.
struct LaunchParameters : ParameterSet {
    /// Throws LaunchError if a scalar has the name of a parameter.
    explicit LaunchParameters(std::shared_ptr<const LaunchPlan> plan);
    std::string kernel_file() const override { return plan->kernel_file; }
    const LaunchParameters* of_launch_file() const override { return this; }
    double work() const override;

    /// The values of all scalars, and `frame`, `time` (frame/60) and `iteration`. Throws
    /// LaunchError for an expression that has no value.
    launches::Names names(std::uint64_t frame, std::uint64_t iteration = 0) const;

    /// Whether a scalar follows the mouse: mouse_x and mouse_y hold its position in pixels of the
    /// picture, from the top left corner, and mouse_z is 1 while the left button is down, else 0.
    bool follows_mouse() const;
    /// The values that these scalars have with the mouse there.
    std::vector<Assignment> at_mouse(double x, double y, bool down) const;

    std::shared_ptr<const LaunchPlan> plan;
    Choice buffer;
    ChoiceOf<launches::BufferView> view;
    Toggle marks;
    /// The accesses that the window paints over the buffer's picture: 0 for none, else 1 more than
    /// an emulator::HeatFigure.
    Choice paint;
    Choice launch;  ///< the one that the microscope and the checks look at

  private:
    std::vector<std::unique_ptr<Parameter>> scalars_;  ///< in the order of the file's numbers
};

}  // namespace warpscope::experiments
