#pragma once

#include "ui/heat/needed_paint.h"
#include "ui/stage/stage.h"
#include "ui/widgets/ui.h"

namespace warpscope::ui {

/// The part of the array that is on show.
struct TreeView {
    double first = 0;          ///< column at the left edge
    float cell = 0;            ///< width of a cell, logical pixels; 0: not chosen yet
    bool in_overview = false;  ///< the mouse button went down in the overview
};

/// The array that one block adds up in shared memory, a row for each barrier.
class TreePanel {
  public:
    TreePanel(Stage& stage, const NeedFinder& needs) : stage_(stage), needed_(stage, needs) {}

    void draw(Ui& ui);
    /// Shows the whole array, or as much of it as can be read.
    void fit() { view_ = {0, 0.01F}; }
    /// Forgets the view, because another experiment is on show.
    void start_over() { view_ = {}; }

  private:
    Stage& stage_;
    NeededPaint needed_;
    TreeView view_;
};

}  // namespace warpscope::ui
