#pragma once

#include <vector>

#include "experiments/framework/report.h"
#include "ui/heat/picture_paint.h"
#include "ui/stage/stage.h"
#include "ui/widgets/ui.h"

namespace warpscope::ui {

/// Returns the elements of `after` that contradict their edges. An element that was computed from
/// two elements of `before` should be their sum; if it isn't, another thread has written in
/// between. There is one flag for each element; elements with other than two edges are not judged.
std::vector<bool> wrong_sums(const experiments::Tree::Row& before,
                             const experiments::Tree::Row& after);

/// Returns by row and element whether its value differs from the one that the tree gives where each
/// sum is that of the right values before it. Only elements that were written by then count.
std::vector<std::vector<bool>> wrong_values(const experiments::Tree& tree);

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
