#pragma once

#include <memory>

#include "ui/stage/stage.h"
#include "ui/window/window.h"

namespace warpscope::ui {

/// The stage that the window opens with, by the options and the settings of the last run. Throws
/// where the options' device is not there or an assignment is invalid.
std::unique_ptr<Stage> make_stage(const WindowOptions& options, const LoadedSettings& loaded,
                                  const EngineThread::Hooks& hooks);

/// Replaces this process by a new one with the same program and arguments. Returns only if that
/// fails.
void start_again();

}  // namespace warpscope::ui
