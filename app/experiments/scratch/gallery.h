#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "experiments/framework/experiment.h"

namespace warpscope::experiments {

/// The kernels of the gallery in order: "life" for kernels/gallery/life.cu.
const std::vector<Choice::Word>& gallery();

/// The arguments of a kernel of the gallery, except the picture that it draws.
struct GalleryFrame {
    Size size;
    std::uint64_t frame = 0;  ///< its time is frame/60 s
    struct Mouse {
        float x, y, z;  ///< float3: pixels from the top left; 1 while the button is down
    } mouse{};
    std::span<const Rgba> before;  ///< the picture before; zeros at first
};

/// The picture that kernels/gallery/`start`.cu must draw, computed on the host by code that shares
/// nothing with the kernel. Empty for `own`, whose float arithmetic may differ between devices.
std::vector<Rgba> gallery_reference(std::string_view start, const GalleryFrame& frame);

}  // namespace warpscope::experiments
