// Source: CUDA Driver API, "Memory Management", "Unified Addressing", "Stream Ordered Memory
// Allocator".
#include "programs/driver_api/copies.h"

using namespace warpscope::programs;

namespace {

Address address(const void* pointer) {
    return reinterpret_cast<Address>(pointer);
}

Status allocate(const char* call, Address* to, std::size_t bytes, MemoryKind kind) {
    return driver_call(call, [&](Gpu& gpu) { *to = gpu.allocate(bytes, kind); });
}

Status allocate_host(const char* call, void** to, std::size_t bytes) {
    return driver_call(call, [&](Gpu& gpu) {
        *to = reinterpret_cast<void*>(gpu.allocate(bytes, MemoryKind::host));
    });
}

Status copy(const char* call, Address to, Address from, std::size_t bytes, Direction direction,
            StreamHandle stream, Return returns) {
    return driver_call(
        call, [&](Gpu& gpu) { gpu.copy(to, from, bytes, direction, stream_of(stream), returns); });
}

Status fill(const char* call, Rows to, unsigned value, unsigned element, std::size_t count,
            std::size_t height, StreamHandle stream) {
    return driver_call(
        call, [&](Gpu& gpu) { gpu.fill(to, value, element, count, height, stream_of(stream)); });
}

/// CUDA_MEMCPY2D
struct Copy2d {
    struct Side {
        std::size_t x, y;
        int type;
        const void* host;
        Address device;
        const Array* array;
        std::size_t pitch;

        CopySide3d in_3d() const {
            return {x, y, 0, 0, type, host, device, array, nullptr, pitch, 0};
        }
    };
    Side from, to;
    std::size_t width, height;
};

Status copy_2d(const char* call, const Copy2d* c, StreamHandle stream, Return returns) {
    return driver_call(call, [&](Gpu& gpu) {
        copy_3d(gpu, {c->from.in_3d(), c->to.in_3d(), c->width, c->height, 1}, stream_of(stream),
                returns);
    });
}

enum PointerAttribute {  // CUpointer_attribute
    context = 1,
    memory_type = 2,
    device_pointer = 3,
    host_pointer = 4,
    is_managed = 8,
    device_ordinal = 9,
    range_start = 11,
    range_size = 12,
};

/// Writes zero for an address that belongs to no allocation where the attribute has such a value.
Status pointer_attribute(void* to, int attribute, Address at) {
    const auto block = gpu().find(at);
    const bool is_host = block && block->kind == MemoryKind::host;
    switch (attribute) {
        case memory_type:
            *static_cast<unsigned*>(to) = !block ? 0 : is_host ? 1 : 2;
            break;
        case device_pointer:
        case host_pointer:
            *static_cast<Address*>(to) = block ? at : 0;
            break;
        case is_managed:
            *static_cast<unsigned*>(to) = block && block->kind == MemoryKind::managed;
            break;
        case device_ordinal:
            *static_cast<int*>(to) = block ? 0 : -2;
            break;
        case range_start:
            *static_cast<Address*>(to) = block ? block->begin : 0;
            break;
        case range_size:
            *static_cast<std::size_t*>(to) = block ? block->bytes : 0;
            break;
        case context:
            *static_cast<void**>(to) = nullptr;
            break;
        default:
            return Status::not_supported;
    }
    return block ? Status::success : Status::invalid_value;
}

}  // namespace

WARPSCOPE_DRIVER(cuMemGetInfo, cuMemGetInfo_v2, std::size_t* free, std::size_t* total) {
    return driver_call(__func__, [&](Gpu& gpu) {
        *total = DeviceMemory::total_bytes;
        *free = *total - gpu.memory().used_bytes();
    });
}
WARPSCOPE_DRIVER(cuMemAlloc, cuMemAlloc_v2, Address* to, std::size_t bytes) {
    return allocate(__func__, to, bytes, MemoryKind::device);
}
WARPSCOPE_DRIVER(cuMemAllocPitch, cuMemAllocPitch_v2, Address* to, std::size_t* pitch,
                 std::size_t width, std::size_t height, unsigned) {
    *pitch = pitch_for(width);
    return allocate(__func__, to, *pitch * height, MemoryKind::device);
}
WARPSCOPE_DRIVER(cuMemAllocManaged, cuMemAllocManaged, Address* to, std::size_t bytes, unsigned) {
    return allocate(__func__, to, bytes, MemoryKind::managed);
}
WARPSCOPE_DRIVER(cuMemAllocAsync, cuMemAllocAsync, Address* to, std::size_t bytes,
                 StreamHandle stream) {
    return driver_call(__func__,
                       [&](Gpu& gpu) { *to = gpu.allocate_in(stream_of(stream), bytes); });
}
WARPSCOPE_DRIVER(cuMemFree, cuMemFree_v2, Address at) {
    return driver_call(__func__, [&](Gpu& gpu) { gpu.free(at); });
}
WARPSCOPE_DRIVER(cuMemFreeAsync, cuMemFreeAsync, Address at, StreamHandle stream) {
    return driver_call(__func__, [&](Gpu& gpu) { gpu.free_in(stream_of(stream), at); });
}
WARPSCOPE_DRIVER(cuMemHostAlloc, cuMemHostAlloc, void** to, std::size_t bytes, unsigned) {
    return allocate_host(__func__, to, bytes);
}
WARPSCOPE_DRIVER(cuMemAllocHost, cuMemAllocHost_v2, void** to, std::size_t bytes) {
    return allocate_host(__func__, to, bytes);
}
WARPSCOPE_DRIVER(cuMemFreeHost, cuMemFreeHost, void* pointer) {
    return driver_call(__func__, [&](Gpu& gpu) { gpu.free(address(pointer)); });
}
WARPSCOPE_DRIVER(cuMemHostRegister, cuMemHostRegister_v2, void* pointer, std::size_t bytes,
                 unsigned) {
    return driver_call(__func__, [&](Gpu& gpu) {
        demand(gpu.memory().attach(pointer, bytes), Status::memory_already_registered,
               "the memory is registered already");
    });
}
WARPSCOPE_DRIVER(cuMemHostUnregister, cuMemHostUnregister, void* pointer) {
    return driver_call(__func__, [&](Gpu& gpu) {
        gpu.streams().run_until_idle();
        demand(gpu.memory().detach(pointer), Status::memory_not_registered,
               "the memory is not registered");
    });
}
WARPSCOPE_DRIVER(cuMemHostGetDevicePointer, cuMemHostGetDevicePointer_v2, Address* to,
                 void* pointer, unsigned) {
    return driver_call(__func__, [&](Gpu& gpu) {
        demand(gpu.find(address(pointer)).has_value(), Status::invalid_value,
               "the memory was not allocated by CUDA");
        *to = address(pointer);
    });
}
WARPSCOPE_DRIVER(cuMemHostGetFlags, cuMemHostGetFlags, unsigned* flags, void*) {
    *flags = 2;  // CU_MEMHOSTALLOC_DEVICEMAP
    return Status::success;
}
WARPSCOPE_DRIVER(cuMemGetAddressRange, cuMemGetAddressRange_v2, Address* begin, std::size_t* bytes,
                 Address at) {
    return driver_call(__func__, [&](Gpu& gpu) {
        const auto block = gpu.find(at);
        demand(block.has_value(), Status::not_found, "the address is in no allocation");
        if (begin) *begin = block->begin;
        if (bytes) *bytes = block->bytes;
    });
}
WARPSCOPE_DRIVER(cuPointerGetAttribute, cuPointerGetAttribute, void* to, int attribute,
                 Address at) {
    const Call held;
    return pointer_attribute(to, attribute, at);
}
WARPSCOPE_DRIVER(cuPointerGetAttributes, cuPointerGetAttributes, unsigned count, int* attributes,
                 void** to, Address at) {
    const Call held;
    for (unsigned i = 0; i < count; ++i) pointer_attribute(to[i], attributes[i], at);
    return Status::success;
}

WARPSCOPE_DRIVER(cuMemcpy, cuMemcpy, Address to, Address from, std::size_t bytes) {
    return copy(__func__, to, from, bytes, Direction::any, nullptr, Return::when_done);
}
WARPSCOPE_DRIVER(cuMemcpyAsync, cuMemcpyAsync, Address to, Address from, std::size_t bytes,
                 StreamHandle stream) {
    return copy(__func__, to, from, bytes, Direction::any, stream, Return::at_once);
}
WARPSCOPE_DRIVER(cuMemcpyHtoD, cuMemcpyHtoD_v2, Address to, const void* from, std::size_t bytes) {
    return copy(__func__, to, address(from), bytes, Direction::host_to_device, nullptr,
                Return::when_done);
}
WARPSCOPE_DRIVER(cuMemcpyHtoDAsync, cuMemcpyHtoDAsync_v2, Address to, const void* from,
                 std::size_t bytes, StreamHandle stream) {
    return copy(__func__, to, address(from), bytes, Direction::host_to_device, stream,
                Return::at_once);
}
WARPSCOPE_DRIVER(cuMemcpyDtoH, cuMemcpyDtoH_v2, void* to, Address from, std::size_t bytes) {
    return copy(__func__, address(to), from, bytes, Direction::device_to_host, nullptr,
                Return::when_done);
}
WARPSCOPE_DRIVER(cuMemcpyDtoHAsync, cuMemcpyDtoHAsync_v2, void* to, Address from, std::size_t bytes,
                 StreamHandle stream) {
    return copy(__func__, address(to), from, bytes, Direction::device_to_host, stream,
                Return::at_once);
}
WARPSCOPE_DRIVER(cuMemcpyDtoD, cuMemcpyDtoD_v2, Address to, Address from, std::size_t bytes) {
    return copy(__func__, to, from, bytes, Direction::device_to_device, nullptr, Return::when_done);
}
WARPSCOPE_DRIVER(cuMemcpyDtoDAsync, cuMemcpyDtoDAsync_v2, Address to, Address from,
                 std::size_t bytes, StreamHandle stream) {
    return copy(__func__, to, from, bytes, Direction::device_to_device, stream, Return::at_once);
}
WARPSCOPE_DRIVER(cuMemcpy2D, cuMemcpy2D_v2, const Copy2d* c) {
    return copy_2d(__func__, c, nullptr, Return::when_done);
}
WARPSCOPE_DRIVER(cuMemcpy2DUnaligned, cuMemcpy2DUnaligned_v2, const Copy2d* c) {
    return copy_2d(__func__, c, nullptr, Return::when_done);
}
WARPSCOPE_DRIVER(cuMemcpy2DAsync, cuMemcpy2DAsync_v2, const Copy2d* c, StreamHandle stream) {
    return copy_2d(__func__, c, stream, Return::at_once);
}
WARPSCOPE_DRIVER(cuMemcpy3D, cuMemcpy3D_v2, const Copy3dParameters* c) {
    return driver_call(__func__,
                       [&](Gpu& gpu) { copy_3d(gpu, *c, stream_of(nullptr), Return::when_done); });
}
WARPSCOPE_DRIVER(cuMemcpy3DAsync, cuMemcpy3DAsync_v2, const Copy3dParameters* c,
                 StreamHandle stream) {
    return driver_call(__func__,
                       [&](Gpu& gpu) { copy_3d(gpu, *c, stream_of(stream), Return::at_once); });
}

// Fills of elements of 1, 2 and 4 bytes, in rows or not, in a stream or not.
#define WARPSCOPE_FILL(bits, type)                                                                 \
    WARPSCOPE_DRIVER(cuMemsetD##bits, cuMemsetD##bits##_v2, Address to, type value,                \
                     std::size_t count) {                                                          \
        return fill(__func__, {to, count * sizeof(type)}, value, sizeof(type), count, 1, nullptr); \
    }                                                                                              \
    WARPSCOPE_DRIVER(cuMemsetD##bits##Async, cuMemsetD##bits##Async, Address to, type value,       \
                     std::size_t count, StreamHandle stream) {                                     \
        return fill(__func__, {to, count * sizeof(type)}, value, sizeof(type), count, 1, stream);  \
    }                                                                                              \
    WARPSCOPE_DRIVER(cuMemsetD2D##bits, cuMemsetD2D##bits##_v2, Address to, std::size_t pitch,     \
                     type value, std::size_t width, std::size_t height) {                          \
        return fill(__func__, {to, pitch}, value, sizeof(type), width, height, nullptr);           \
    }                                                                                              \
    WARPSCOPE_DRIVER(cuMemsetD2D##bits##Async, cuMemsetD2D##bits##Async, Address to,               \
                     std::size_t pitch, type value, std::size_t width, std::size_t height,         \
                     StreamHandle stream) {                                                        \
        return fill(__func__, {to, pitch}, value, sizeof(type), width, height, stream);            \
    }
WARPSCOPE_FILL(8, unsigned char)
WARPSCOPE_FILL(16, unsigned short)
WARPSCOPE_FILL(32, unsigned)
