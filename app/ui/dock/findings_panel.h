#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include "ui/microscope/microscope.h"
#include "ui/stage/stage.h"
#include "ui/widgets/ui.h"
#include "ui/widgets/view_options.h"

namespace warpscope::ui {

/// What the checks found: races, barriers that not every thread reaches, invalid accesses.
class FindingsPanel {
  public:
    FindingsPanel(Stage& stage, Microscope& microscope, ViewOptions& options)
        : stage_(stage), microscope_(microscope), options_(options) {}

    void draw(Ui& ui);

  private:
    enum class Sorting { harm, line, count };
    std::vector<std::size_t> in_order(Ui& ui, const std::vector<emulator::Finding>& findings);
    void draw_card(Ui& ui, const emulator::Finding& finding, const std::string& id);
    void draw_advice(Ui& ui, std::size_t barrier, const std::string& id);
    void draw_next_step(Ui& ui, const RaceSummary& summary);
    void draw_needed(Ui& ui, const NeedFinder::Checked& checked, std::size_t rows);

    Stage& stage_;
    Microscope& microscope_;
    ViewOptions& options_;
    Sorting sorting_ = Sorting::harm;
    std::string kind_;              ///< the only kind on show; empty: all
    std::set<std::string> opened_;  ///< ids of the cards with their sentence
};

}  // namespace warpscope::ui
