#pragma once

#include <optional>

#include "ui/widgets/ui.h"

namespace warpscope::ui {

/// Five sentences about real widgets of the window, one after the other.
class Tour {
  public:
    void start() { step_ = 0; }
    void end() { step_.reset(); }
    bool shows() const { return step_.has_value(); }
    /// Draws the step over the window, and marks its widget, unless the panels are `covered` by a
    /// popup or a list. Call it when all widgets of the frame were drawn.
    void draw(Ui& ui, bool covered);

  private:
    std::optional<std::size_t> step_;
};

}  // namespace warpscope::ui
