#pragma once

#include <string>

#include "ui/microscope/microscope.h"
#include "ui/stage/stage.h"
#include "ui/widgets/canvas.h"
#include "ui/widgets/ui.h"
#include "ui/widgets/view_options.h"

namespace warpscope::ui {

/// Says that edited text runs. `files`: those that are edited, as edited_files() names them.
void draw_edited_badge(Ui& ui, const std::string& files);

/// The buttons above the picture: pause, one frame, reset; microscope, editor; the view.
class TransportPanel {
  public:
    TransportPanel(Stage& stage, Microscope& microscope, Canvas& canvas, ViewOptions& options)
        : stage_(stage), microscope_(microscope), canvas_(canvas), options_(options) {}

    /// Draws the panel into the current ImGui child window. If `narrow`, it has the buttons of the
    /// drawers.
    void draw(Ui& ui, bool narrow);

  private:
    void edited_badge(Ui& ui);
    void drawer_button(Ui& ui, Drawer drawer);

    Stage& stage_;
    Microscope& microscope_;
    Canvas& canvas_;
    ViewOptions& options_;
};

}  // namespace warpscope::ui
