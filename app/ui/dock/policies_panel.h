#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "experiments/framework/report.h"
#include "ui/stage/inspector.h"
#include "ui/stage/stage.h"
#include "ui/widgets/ui.h"
#include "ui/widgets/view_options.h"

namespace warpscope::ui {

/// What the barriers of the device in use do.
struct DeviceBarriers {
    std::optional<experiments::Report> report;
    std::string error;
    std::uint64_t state = 0;  ///< Inspector::state() that the report belongs to
};

/// What each barrier policy, and the device in use, does with the launch.
class PoliciesPanel {
  public:
    PoliciesPanel(Stage& stage, Inspector& inspector, ViewOptions& options)
        : stage_(stage), inspector_(inspector), options_(options) {}

    /// Draws the panel into the current ImGui child window.
    void draw(Ui& ui);

  private:
    Stage& stage_;
    Inspector& inspector_;
    ViewOptions& options_;
    DeviceBarriers device_;
};

}  // namespace warpscope::ui
