#pragma once

#include <cstddef>

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
    void draw_needed(Ui& ui, const NeedFinder::Checked& checked, std::size_t rows);

    Stage& stage_;
    Microscope& microscope_;
    ViewOptions& options_;
};

}  // namespace warpscope::ui
