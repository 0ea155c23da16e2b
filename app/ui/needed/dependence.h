#pragma once

#include <imgui.h>

#include <string>
#include <vector>

#include "ui/needed/need_finder.h"
#include "ui/stage/stage.h"

namespace warpscope::ui {

/// What depends on the barrier at which a person looks, of the elements of a buffer; empty: nothing
/// is known, or no barrier is looked at.
const std::vector<experiments::Dependence>& dependence_of(const Stage& stage,
                                                          const NeedFinder& needs,
                                                          const std::string& buffer);

/// The colour of an element; 0: it is not painted.
ImU32 dependence_colour(experiments::Dependence dependence);

}  // namespace warpscope::ui
