#pragma once

#include <string>

#include "experiments/framework/report.h"

namespace warpscope::experiments {

/// A timeline as JSON in the Trace Event Format, which Perfetto and Chrome open: a track for each
/// warp. One unit of the timeline (an instruction, a clock) is a microsecond there.
std::string to_trace(const Timeline& timeline);

}  // namespace warpscope::experiments
