#pragma once

#include <string>

#include "experiments/framework/parameter.h"
#include "ui/stage/stage.h"

namespace warpscope::ui {

/// Whether a toggle takes effect as "on". The toggle of the barriers does not where the source that
/// runs has none.
bool is_on(const Stage& stage, const experiments::Toggle& toggle);

/// Gives a toggle of the experiment on show its other effect: barriers that are taken out in the
/// source are put back there.
void flip(Stage& stage, const experiments::Toggle& toggle);

/// Runs the built-in text of every edited kernel file. Undo in the editor brings an edit back.
void revert_edits(Stage& stage);

/// "ripple.cu, dot.cu": the files whose edits run. Empty: none.
std::string edited_files(const Stage& stage);

}  // namespace warpscope::ui
