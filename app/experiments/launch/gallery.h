#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/signature.h"
#include "launches/files/launch_file.h"

namespace warpscope::experiments {

/// A kernel of the gallery: kernels/gallery/NAME.cu with NAME.launch.json beside it, both built in.
struct GalleryKernel {
    std::string_view name;   ///< "life"
    std::string_view title;  ///< "Life"
    std::string_view shows;  ///< a sentence
};

/// The kernels of the gallery in order; the first one is for a kernel of the user's own.
std::span<const GalleryKernel> gallery();
/// Whether the gallery has a kernel of this name.
bool in_gallery(std::string_view name);

/// The launch file of a kernel of the gallery. Throws LaunchError if there is none of this name.
launches::LaunchFile gallery_file(std::string_view name);

/// The signatures of the kernels that are built in for a launch file of the gallery, so that no
/// compiler is needed to launch them.
std::vector<compiler::Signature> gallery_signatures(const launches::LaunchFile& file);

/// Whether both have kernels of equal names with equal names and sizes of parameters, in any order.
bool equal(std::span<const compiler::Signature> a, std::span<const compiler::Signature> b);

}  // namespace warpscope::experiments
