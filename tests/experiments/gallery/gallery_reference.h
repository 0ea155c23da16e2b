#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "experiments/framework/experiment.h"

namespace warpscope::tests {

/// The arguments of a kernel of the gallery, except the picture that it draws.
struct GalleryFrame {
    experiments::Size size;
    std::uint64_t frame = 0;  ///< its time is frame/60 s
    struct Mouse {
        float x, y, z;  ///< float3: pixels from the top left; 1 while the button is down
    } mouse{};
    std::span<const experiments::Rgba> before;  ///< the picture before; zeros at first
};

/// The picture that kernels/gallery/`name`.cu must draw, computed on the host by code that shares
/// nothing with the kernel. Empty for `own`, whose float arithmetic may differ between devices.
std::vector<experiments::Rgba> gallery_reference(std::string_view name, const GalleryFrame& frame);

}  // namespace warpscope::tests
