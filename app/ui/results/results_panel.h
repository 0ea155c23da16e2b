#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "experiments/framework/report.h"
#include "ui/microscope/microscope.h"
#include "ui/stage/stage.h"
#include "ui/widgets/ui.h"

namespace warpscope::ui {

/// Returns the number of values in each of `bins` parts of equal width between the smallest and the
/// largest value; the largest value belongs to the last part. `bins` of 0 counts as 1. Equal values
/// are all in the first part.
std::vector<unsigned> histogram(std::span<const double> values, std::size_t bins);

/// The experiment's report and, once it was asked for, the comparison of its variants.
class ResultsPanel {
  public:
    ResultsPanel(Stage& stage, Microscope& microscope) : stage_(stage), microscope_(microscope) {}

    /// Returns true when the verdict was clicked.
    bool draw(Ui& ui);
    /// Draws the readings side by side, as many as have room.
    void draw_strip(Ui& ui);

  private:
    Stage& stage_;
    Microscope& microscope_;
    void draw_comparison(Ui& ui);
    void compare_button(Ui& ui);
    void explain_if_wrong(Ui& ui, const experiments::Reading& r);
    void remember();

    bool wanted_ = false;                ///< a press of the button asks for a comparison
    bool asked_ = false;                 ///< the stage was asked for the comparison
    bool scroll_to_comparison_ = false;  ///< scroll in the next frame
    std::uint64_t remembered_ = 0;       ///< the newest frame in history_
    std::map<std::string, std::vector<float>>
        history_;  ///< of these settings, by name of a reading
};

/// Draws the variants of an experiment side by side: by their counts where the emulator has run
/// them, by their times on a GPU, with each number as a multiple of the first variant's.
void draw_comparison_table(Ui& ui, const experiments::Comparison& table);

}  // namespace warpscope::ui
