#include "compute/device/kernel_images.h"

#include <fmt/format.h>

namespace warpscope::compute {

namespace {

std::string name_of_image(std::string_view file, Math math, std::string_view extension) {
    return fmt::format("{}/{}.{}", math == Math::fast ? "fast" : "precise", file, extension);
}

}  // namespace

std::string_view kernel_ptx(std::string_view file, Math math) {
    const auto name = name_of_image(file, math, "ptx");
    const std::string_view image = embedded_kernel_image(name);
    if (image.empty()) throw DeviceError(fmt::format("the app has no kernel image {}", name));
    return image;
}

std::string_view kernel_binary(std::string_view file, Math math) {
    return embedded_kernel_image(name_of_image(file, math, "fatbin"));
}

}  // namespace warpscope::compute
