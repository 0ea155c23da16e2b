#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "experiments/framework/report.h"
#include "ui/dock/warp_lanes.h"
#include "ui/microscope/microscope.h"
#include "ui/stage/inspector.h"
#include "ui/stage/stage.h"
#include "ui/widgets/ui.h"

namespace warpscope::ui {

/// The lanes of the microscope's block, which take a while to compute.
struct CachedLanes {
    std::optional<WarpLanes> lanes;
    std::uint64_t version = 0;  ///< Microscope::version() that the lanes belong to
};

/// What each warp does over time: in the microscope's block by step, and in a block that the
/// experiment's own kernel measured.
class TimelinePanel {
  public:
    TimelinePanel(Stage& stage, Inspector& inspector, Microscope& microscope)
        : stage_(stage), inspector_(inspector), microscope_(microscope) {}

    /// Draws the panel into the current ImGui child window.
    void draw(Ui& ui);
    /// Once a frame: asks the experiment for the timeline that its kernel measured.
    void refresh();
    bool has_measured() const { return measured_.has_value(); }

  private:
    Stage& stage_;
    Inspector& inspector_;
    Microscope& microscope_;
    CachedLanes lanes_;
    std::optional<experiments::Timeline> measured_;
    // What measured_ belongs to: Stage::picture_version() and Inspector::state().
    std::uint64_t measured_picture_ = 0, measured_state_ = 0;
    std::chrono::steady_clock::time_point measure_after_{};
};

}  // namespace warpscope::ui
