#pragma once

#include <filesystem>
#include <optional>

#include "experiments/launch_files/program_capture.h"
#include "ui/panels/parameter_row.h"
#include "ui/stage/stage.h"
#include "ui/widgets/ui.h"
#include "ui/widgets/view_options.h"

namespace warpscope::ui {

/// The experiment's parameters, and the device that runs its kernels.
class ControlsPanel {
  public:
    ControlsPanel(Stage& stage, ViewOptions& options) : stage_(stage), options_(options) {}

    void draw(Ui& ui);

  private:
    void program_row(Ui& ui, const RowColumns& at);

    Stage& stage_;
    ViewOptions& options_;
    std::filesystem::path capture_folder_;                ///< of the launch that was shown last
    std::optional<experiments::ProgramCapture> capture_;  ///< in that folder
};

}  // namespace warpscope::ui
