#pragma once

#include "programs/driver_api/driver.h"

namespace warpscope::programs {

/// One side of CUDA_MEMCPY3D.
struct CopySide3d {
    std::size_t x, y, z, lod;
    int type;  ///< CUmemorytype: 1 host, 2 device, 3 array, 4 unified
    const void* host;
    Address device;
    const Array* array;
    void* reserved;
    std::size_t pitch, height;
};
struct Copy3dParameters {  // CUDA_MEMCPY3D
    CopySide3d from, to;
    std::size_t width, height, depth;  ///< width: bytes
};

/// Adds the copies of all slices.
void copy_3d(Gpu& gpu, const Copy3dParameters& copy, Stream& stream, Return returns);

}  // namespace warpscope::programs
