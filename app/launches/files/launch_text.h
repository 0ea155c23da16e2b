#pragma once

#include <string>

#include "launches/files/launch_file.h"
#include "launches/files/launch_json.h"

namespace warpscope::launches {

using LaunchJson = JsonField::Json;

/// The parts of a launch file as JSON, and JSON as a person writes it.
LaunchJson launch_json(const LaunchSpec& launch);
LaunchJson buffer_json(const BufferSpec& buffer);
LaunchJson expectation_json(const Expectation& expected);
/// An object or an array is in one line where it holds no objects and the line has room.
std::string pretty(const LaunchJson& json, int depth);

}  // namespace warpscope::launches
