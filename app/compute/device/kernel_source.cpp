#include "compute/device/kernel_source.h"

#include <fmt/format.h>

namespace warpscope::compute {

std::string kernel_path(std::string_view file) {
    return fmt::format("kernels/{}.cu", file);
}

}  // namespace warpscope::compute
