#include "compute/device/kernel_images.h"

#include <fmt/format.h>

namespace warpscope::compute {

std::string_view kernel_image(std::string_view file, Math math, std::string_view extension) {
    const auto name =
        fmt::format("{}/{}.{}", math == Math::fast ? "fast" : "precise", file, extension);
    const std::string_view image = embedded_kernel_image(name);
    if (image.empty()) throw DeviceError(fmt::format("the app has no kernel image {}", name));
    return image;
}

}  // namespace warpscope::compute
