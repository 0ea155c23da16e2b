#pragma once

#include <span>

namespace warpscope::ui {

/// The words and sentences that are made below the window, in English, with {} for their values. A
/// value may be one of them, such as "byte 12 of shared memory".
std::span<const char* const> made_forms();

}  // namespace warpscope::ui
