#pragma once

#include <string>
#include <string_view>

namespace warpscope::compute {

/// Returns the PTX text with the newest ISA version that a driver knows, if the text states a newer
/// one. `driver_version` is that of cuDriverGetVersion: 12020 for CUDA 12.2. The instructions stay
/// unchanged: compilers write the version of their own release, which the text may not need.
/// Source: PTX ISA, "Release Notes".
std::string ptx_for_driver(std::string_view ptx, int driver_version);

}  // namespace warpscope::compute
