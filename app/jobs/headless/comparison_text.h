#pragma once

#include <string>

#include "experiments/framework/report.h"

namespace warpscope::jobs {

/// The comparison as a table: by counts where the emulator has run the variants, by times on a GPU.
std::string comparison_text(const experiments::Comparison& comparison);

}  // namespace warpscope::jobs
