#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "experiments/framework/experiment.h"

namespace warpscope::experiments {

/// The starting points for one's own kernel, "life" for kernels/gallery/life.cu, in order.
const std::vector<Choice::Word>& gallery();

/// What a kernel of the gallery is launched with, but for the picture.
struct GalleryFrame {
    Size size;
    std::uint64_t frame = 0;  ///< its time is frame/60 s
    struct Mouse {
        float x, y, z;  ///< float3: pixels from the top left; 1 while the button is down
    } mouse{};
    std::span<const Rgba> before;  ///< the picture before; zeros at first
};

/// The picture that kernels/gallery/`start`.cu is to draw, by loops over pixels that share nothing
/// with it. Empty where its arithmetic is not in whole numbers, so that devices may differ: own.
std::vector<Rgba> gallery_reference(std::string_view start, const GalleryFrame& frame);

}  // namespace warpscope::experiments
