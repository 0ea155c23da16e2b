#pragma once

#include "ui/parameters/program_rows.h"
#include "ui/stage/stage.h"
#include "ui/widgets/ui.h"
#include "ui/widgets/view_options.h"

namespace warpscope::ui {

/// The experiment's parameters, and the device that runs its kernels.
class ControlsPanel {
  public:
    ControlsPanel(Stage& stage, ViewOptions& options) : stage_(stage), options_(options) {}

    void draw(Ui& ui);
    /// The checks of the launches of a program.
    ProgramChecks& checks() { return program_.checks(); }
    bool busy() const { return program_.busy(); }

  private:
    Stage& stage_;
    ViewOptions& options_;
    ProgramRows program_{stage_};
};

}  // namespace warpscope::ui
