#pragma once

#include <string>
#include <vector>

#include "experiments/export/table.h"
#include "ui/microscope/microscope.h"
#include "ui/stage/stage.h"
#include "ui/widgets/view_options.h"

namespace warpscope::ui {

/// The findings of the checks, and which barriers are needed, where that was asked.
std::vector<emulator::Finding> findings_on_show(const Stage& stage, const Microscope& microscope);

/// The table of the open tab at the foot, where it has one, the results, and the comparison of the
/// kernels. `options` say what sorts lines, and whose occupancy is wanted.
std::vector<experiments::Table> tables_on_show(const Stage& stage, const Microscope& microscope,
                                               const std::string& tab, const ViewOptions& options);

}  // namespace warpscope::ui
