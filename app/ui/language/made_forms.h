#pragma once

#include <span>

namespace warpscope::ui {

/// The words and sentences that are made below the window, in English, with {} for their values. A
/// value may be one of them, such as "byte 12 of shared memory".
/// Of two forms that fit a sentence, the first one counts.
std::span<const char* const> made_forms();
/// Those of findings, of orders of warps, and of reasons.
std::span<const char* const> check_forms();

}  // namespace warpscope::ui
