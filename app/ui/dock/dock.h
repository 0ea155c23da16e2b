#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "experiments/framework/report.h"
#include "ui/dock/warp_lanes.h"
#include "ui/microscope/tile_grid.h"

namespace warpscope::ui {

/// What the dock's panels and the tile keep from frame to frame.
struct DockState {
    TileColour tile_by = TileColour::value;
    unsigned tile_row = 0;  ///< words in a row; 0: as usual_row() says

    /// The timeline of the microscope's block, for that version of it.
    std::optional<WarpLanes> lanes;
    std::uint64_t lanes_version = 0;

    /// What the experiment's own kernel measured, and for which picture and state of the inspector
    /// it was asked.
    std::optional<experiments::Timeline> measured;
    std::uint64_t measured_picture = 0, measured_state = 0;
    std::chrono::steady_clock::time_point measure_after{};

    /// What the barriers of the device in use do, and of which state of the inspector that is.
    std::optional<experiments::Report> barriers;
    std::string barriers_error;
    std::uint64_t barriers_state = 0;
};

}  // namespace warpscope::ui
