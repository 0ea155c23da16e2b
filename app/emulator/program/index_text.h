#pragma once

#include <optional>
#include <string_view>

#include "emulator/program/launch.h"

namespace warpscope::emulator {

/// Reads one to three whole numbers separated by commas or spaces: an index in a grid or a block.
std::optional<Dim3> read_index(std::string_view text);

}  // namespace warpscope::emulator
