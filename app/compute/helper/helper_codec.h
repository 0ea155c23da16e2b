#pragma once

#include <vector>

#include "compiler/nvrtc.h"
#include "compute/device/device.h"
#include "compute/helper/helper_wire.h"

namespace warpscope::compute {

// Values in the frames of helper_wire.h. Functions that read throw WireError for an invalid value.

Math math(WireReader& from);

void put(WireWriter& to, const DeviceInfo& info);
DeviceInfo device_info(WireReader& from);

void put(WireWriter& to, const RunSettings& settings);
RunSettings run_settings(WireReader& from);

void put(WireWriter& to, const LaunchShape& shape);
LaunchShape shape(WireReader& from);
void put(WireWriter& to, const emulator::Texture& texture);
emulator::Texture texture(WireReader& from);

void put(WireWriter& to, const std::vector<compiler::Diagnostic>& diagnostics);
std::vector<compiler::Diagnostic> diagnostics(WireReader& from);

void put(WireWriter& to, const compiler::Request& request);
compiler::Request compile_request(WireReader& from);

void put(WireWriter& to, const compiler::Compiled& compiled);
compiler::Compiled compiled(WireReader& from);

/// Throws the exception that the answer reports; returns if the answer is `done`.
void throw_if_failed(WireReader& answer);
/// The answer that reports the current exception. Rethrows a WireError.
WireWriter failed_answer();

}  // namespace warpscope::compute
