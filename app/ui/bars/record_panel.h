#pragma once

#include "ui/widgets/ui.h"
#include "ui/widgets/view_options.h"

namespace warpscope::ui {

/// Asks what to record, as which file and how long, and counts down before it begins.
class RecordPanel {
  public:
    explicit RecordPanel(ViewOptions& options) : options_(options) {}

    void show() { asked_ = true; }
    /// Draws the question over the window while it is open, or the seconds that are left before the
    /// recording begins.
    void draw(Ui& ui);
    /// A recording is to begin.
    bool counts() const { return begins_ > 0; }
    void cancel() { begins_ = 0; }

  private:
    void ask(Ui& ui);

    ViewOptions& options_;
    bool asked_ = false;
    Recorded what_ = Recorded::picture;
    double begins_ = 0;  ///< in ImGui's seconds; 0: none is to begin
};

}  // namespace warpscope::ui
