#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace warpscope::compute {

/// Bytes of each parameter of the kernel `name` in a PTX text (PTX ISA, "Kernel and Function
/// Directives: .entry"). Empty if the text has no such kernel, or if it can't be parsed.
std::optional<std::vector<std::size_t>> ptx_parameter_bytes(std::string_view ptx,
                                                            std::string_view name);

/// The text with `name` as its only kernel: one kernel is assembled much faster than all of them.
/// Empty if the kernel uses variables of the module, which it may share with other kernels, or if
/// the text can't be parsed.
std::optional<std::string> ptx_of_kernel(std::string_view ptx, std::string_view name);

/// Returns the PTX text with the newest ISA version that a driver knows, if the text states a newer
/// one. `driver_version` is that of cuDriverGetVersion: 12020 for CUDA 12.2. The instructions stay
/// unchanged: compilers write the version of their own release, which the text may not need.
/// Source: PTX ISA, "Release Notes".
std::string ptx_for_driver(std::string_view ptx, int driver_version);

}  // namespace warpscope::compute
