#pragma once

#include <cstddef>
#include <string_view>

namespace warpscope::experiments {

/// The kernels of kernels/nbody.cu and nbody_ladder.cu, in the order of the words of nbody.kernel.
/// Each makes one change to the kernel before it; docs/ladder.md describes them.
/// The last three are `tiled` without the barrier after a tile is loaded, without the one before
/// the next tile is loaded, and without both.
enum class NBodyKernel {
    float3,
    float4,
    tiled,
    rsqrt,
    unrolled,
    several,
    fast,
    no_load_barrier,
    no_reuse_barrier,
    no_barriers
};

/// Those with all barriers that they need.
inline constexpr NBodyKernel all_nbody_kernels[] = {
    NBodyKernel::float3,   NBodyKernel::float4,  NBodyKernel::tiled, NBodyKernel::rsqrt,
    NBodyKernel::unrolled, NBodyKernel::several, NBodyKernel::fast};

/// "nbody_tiled".
constexpr std::string_view name_of(NBodyKernel kernel) {
    constexpr std::string_view names[] = {
        "nbody_float3",           "nbody_float4",     "nbody_tiled", "nbody_rsqrt",
        "nbody_unrolled",         "nbody_several",    "nbody_fast",  "nbody_no_load_barrier",
        "nbody_no_reuse_barrier", "nbody_no_barriers"};
    return names[std::size_t(kernel)];
}

constexpr bool has_all_barriers(NBodyKernel kernel) {
    return kernel <= NBodyKernel::fast;
}

/// "nbody" for a kernel of kernels/nbody.cu.
constexpr std::string_view file_of(NBodyKernel kernel) {
    return kernel > NBodyKernel::tiled && has_all_barriers(kernel) ? "nbody_ladder" : "nbody";
}

}  // namespace warpscope::experiments
