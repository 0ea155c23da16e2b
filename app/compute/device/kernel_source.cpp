#include "compute/device/kernel_source.h"

#include <fmt/format.h>

#include <algorithm>

namespace warpscope::compute {

std::string kernel_path(std::string_view file) {
    return fmt::format("kernels/{}.cu", file);
}

std::string kernel_file(std::string_view path) {
    constexpr std::string_view folder = "kernels/", end = ".cu";
    if (!path.starts_with(folder) || !path.ends_with(end)) return {};
    path.remove_prefix(folder.size());
    path.remove_suffix(std::min(path.size(), end.size()));
    return std::string(path);
}

}  // namespace warpscope::compute
