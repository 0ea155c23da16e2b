#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace warpscope::compute {

/// Bytes of each parameter of the kernel `name` in a PTX text (PTX ISA, "Kernel and Function
/// Directives: .entry"); nothing where the text has no such kernel, or one that isn't understood.
std::optional<std::vector<std::size_t>> ptx_parameter_bytes(std::string_view ptx,
                                                            std::string_view name);

/// The text without its kernels but `name`, as one is assembled much faster than all. Nothing where
/// it uses variables of the module, which others may share, or where the text isn't understood.
std::optional<std::string> ptx_of_kernel(std::string_view ptx, std::string_view name);

}  // namespace warpscope::compute
