#pragma once

#include "programs/runtime_api/runtime.h"

namespace warpscope::programs {

inline Address address(const void* pointer) {
    return reinterpret_cast<Address>(pointer);
}
Direction direction_of(int kind);  ///< of a cudaMemcpyKind; throws CallError

struct ChannelFormat {  // cudaChannelFormatDesc
    int x, y, z, w;     ///< bits of each channel
    int kind;           ///< cudaChannelFormatKind
};
ElementFormat element_format(const ChannelFormat& format);

struct PitchedPointer {  // cudaPitchedPtr
    void* pointer;
    std::size_t pitch, width, height;
};
struct Extent {  // cudaExtent
    std::size_t width, height, depth;
};
struct Position {  // cudaPos
    std::size_t x, y, z;
};
struct Copy3d {  // cudaMemcpy3DParms
    const Array* from_array;
    Position from_position;
    PitchedPointer from;
    const Array* to_array;
    Position to_position;
    PitchedPointer to;
    Extent extent;
    int kind;
};

/// Adds the copies of all slices.
void copy_3d(Gpu& gpu, const Copy3d& copy, Stream& stream, Return returns);

}  // namespace warpscope::programs
