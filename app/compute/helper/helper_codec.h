#pragma once

#include <vector>

#include "compiler/diagnostic.h"
#include "compute/device/device.h"
#include "compute/helper/helper_wire.h"

namespace warpscope::compute {

// How values stand in the frames of helper_wire.h. Whatever is read is checked: WireError.

void put(WireWriter& to, const DeviceInfo& info);
DeviceInfo device_info(WireReader& from);

void put(WireWriter& to, const RunSettings& settings);
RunSettings run_settings(WireReader& from);

void put(WireWriter& to, const Shape& shape);
Shape shape(WireReader& from);

void put(WireWriter& to, const std::vector<compiler::Diagnostic>& diagnostics);
std::vector<compiler::Diagnostic> diagnostics(WireReader& from);

/// The answer as the exception that it stands for; nothing where the work is done.
void throw_if_failed(WireReader& answer);
/// Of the exception that is being handled. A WireError goes on.
WireWriter failed_answer();

}  // namespace warpscope::compute
