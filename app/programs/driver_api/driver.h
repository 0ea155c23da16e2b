#pragma once

#include "programs/api/api.h"

namespace warpscope::programs {

/// Does a call of the driver API: the runtime's own statuses become invalid_value.
template <class Work>
Status driver_call(const char* function, Work work) {
    const Status status = call(function, work);
    return driver_name_of(status) ? status : Status::invalid_value;
}

/// Finds a function of the driver API by its name: cuGetProcAddress(). `result` may be null.
Status find_entry_point(const char* name, void** function, unsigned long long flags, int* result);

/// Makes the primary context current in this thread unless one is.
void use_primary_context();

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

/// Defines a function of the driver API. cuda.h renames some of them when it is included:
/// cuMemAlloc to cuMemAlloc_v2, which is then the `symbol`.
#define WARPSCOPE_DRIVER(name, symbol, ...) \
    WARPSCOPE_API(warpscope::programs::Status, name, symbol, __VA_ARGS__)
