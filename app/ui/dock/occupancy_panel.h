#pragma once

#include <string>

#include "compute/device/occupancy.h"
#include "ui/stage/stage.h"
#include "ui/widgets/ui.h"
#include "ui/widgets/view_options.h"

namespace warpscope::ui {

/// How many warps of a kernel a multiprocessor executes at one time, what limits their number, and
/// what it would be with blocks of other sizes.
class OccupancyPanel {
  public:
    OccupancyPanel(Stage& stage, ViewOptions& options) : stage_(stage), wish_(options.occupancy) {}
    void draw(Ui& ui);

  private:
    const compute::KernelTiming* choose_kernel(Ui& ui);
    const compute::SmLimits& choose_sm(Ui& ui);
    void choose_registers(Ui& ui, const compute::KernelTiming& kernel);

    Stage& stage_;
    compute::OccupancyWish& wish_;
    std::string kernel_;  ///< the kernel that a person has chosen; empty: the one on show
};

}  // namespace warpscope::ui
