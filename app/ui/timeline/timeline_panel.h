#pragma once

#include <cstdint>
#include <optional>

#include "experiments/framework/report.h"
#include "ui/microscope/microscope.h"
#include "ui/stage/stage.h"
#include "ui/timeline/copy_bars.h"
#include "ui/timeline/time_range.h"
#include "ui/timeline/warp_lanes.h"
#include "ui/widgets/ui.h"

namespace warpscope::ui {

/// The lanes of the microscope's block, which take a while to compute.
struct CachedLanes {
    std::optional<WarpLanes> lanes;
    std::uint64_t version = 0;  ///< Microscope::version() that the lanes belong to
    StepRange steps;            ///< that are on show
    std::vector<CopyBar> bars;  ///< of all steps
    unsigned bar_rows = 0;      ///< for which they were made
};

/// What each warp does over time, in two strips: by step in the microscope's block, and over time
/// in a block that the experiment's own kernel measured.
class TimelinePanel {
  public:
    TimelinePanel(Stage& stage, Microscope& microscope) : stage_(stage), microscope_(microscope) {}

    void draw(Ui& ui);
    bool has_measured() const { return stage_.shown().readings.timeline.has_value(); }

  private:
    Stage& stage_;
    Microscope& microscope_;
    CachedLanes lanes_;
    TimeRange steps_, measured_;  ///< that are on show
};

}  // namespace warpscope::ui
