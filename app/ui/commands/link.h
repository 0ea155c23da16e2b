#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "experiments/framework/parameter.h"
#include "ui/microscope/microscope.h"
#include "ui/stage/stage.h"

namespace warpscope::ui {

/// A state of the window as the part of an address that follows '#':
/// "ripple?sync=off&size=512&run.seed=3&microscope=12,7@214".
struct Link {
    std::string experiment;  ///< its id, or the launch file of an example of the gallery
    std::vector<experiments::Assignment> values;
    compute::RunSettings run;
    std::optional<MicroscopePlace> microscope;  ///< nullopt: it is closed
};

/// The text of what is on show: what differs from the defaults.
std::string link_text(const Stage& stage, const Microscope& microscope);

/// Reads the text of a link, which may come from anybody. Words that mean nothing are left out, as
/// are values that no setting has; the experiment checks the values of its parameters itself.
Link read_link(std::string_view text);

}  // namespace warpscope::ui
