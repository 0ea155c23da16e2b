#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "experiments/framework/report.h"
#include "ui/language/language.h"
#include "ui/microscope/microscope.h"
#include "ui/stage/stage.h"
#include "ui/timeline/lanes.h"
#include "ui/widgets/ui.h"

namespace warpscope::ui {

/// The order of a schedule file in which the microscope steps its block: its turns in words, one
/// line each. A click on a line goes to the first step of the turn.
class OrderPanel {
  public:
    OrderPanel(Stage& stage, Microscope& microscope) : stage_(stage), microscope_(microscope) {}

    void draw(Ui& ui);

  private:
    void renew();
    void row(Ui& ui, std::size_t line, std::size_t current, float width);
    void save();

    Stage& stage_;
    Microscope& microscope_;
    std::vector<std::string> lines_;
    std::vector<std::optional<std::uint64_t>> steps_;  ///< by line: turn_steps()
    std::uint64_t copy_ = 0, known_steps_ = 0;         ///< for which they were made
    Language language_ = Language::english;            ///< in which they are
};

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
