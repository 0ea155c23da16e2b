#pragma once

#include <map>
#include <string>

#include "compute/device/occupancy.h"
#include "ui/stage/stage.h"
#include "ui/widgets/ui.h"

namespace warpscope::ui {

/// How many warps of a kernel a multiprocessor executes at one time, what limits their number, and
/// what it would be with blocks of other sizes.
class OccupancyPanel {
  public:
    explicit OccupancyPanel(Stage& stage) : stage_(stage) {}
    void draw(Ui& ui);

  private:
    const compute::KernelTiming* choose_kernel(Ui& ui);
    const compute::SmLimits& choose_sm(Ui& ui);
    std::optional<unsigned> registers_of(const compute::KernelTiming& kernel) const;
    std::optional<unsigned> choose_registers(Ui& ui, const compute::KernelTiming& kernel);

    Stage& stage_;
    std::string kernel_;  ///< the kernel that a person has chosen; empty: the one on show
    /// The compute capability that a person has chosen; 0: the device's.
    int compute_capability_ = 0;
    std::map<std::string, unsigned> registers_;  ///< for each kernel, the number that was typed
};

}  // namespace warpscope::ui
