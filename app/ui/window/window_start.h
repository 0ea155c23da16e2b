#pragma once

#include <memory>

#include "ui/stage/stage.h"
#include "ui/window/window.h"

namespace warpscope::ui {

/// What the window opens with: as the options say, else as it was left. Throws where the device or
/// an assignment of the options can't be had.
std::unique_ptr<Stage> make_stage(const WindowOptions& options, const LoadedSettings& loaded);

/// Runs this program with its own arguments in place of this process; returns where that fails.
void start_again();

}  // namespace warpscope::ui
