// Source: CUDA Driver API, "Memory Management", "Unified Addressing", "Stream Ordered Memory
// Allocator".
// Source: CUDA Driver API, "Virtual Memory Management".
#include <algorithm>
#include <map>

#include "programs/driver_api/driver.h"
#include "programs/memory/interprocess_memory.h"

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
            std::size_t height, StreamHandle stream, Return returns) {
    return driver_call(call, [&](Gpu& gpu) {
        gpu.fill(to, value, element, count, height, stream_of(stream), returns);
    });
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
#define WARPSCOPE_FILL(bits, type)                                                                \
    WARPSCOPE_DRIVER(cuMemsetD##bits, cuMemsetD##bits##_v2, Address to, type value,               \
                     std::size_t count) {                                                         \
        return fill(__func__, {to, count * sizeof(type)}, value, sizeof(type), count, 1, nullptr, \
                    Return::when_done);                                                           \
    }                                                                                             \
    WARPSCOPE_DRIVER(cuMemsetD##bits##Async, cuMemsetD##bits##Async, Address to, type value,      \
                     std::size_t count, StreamHandle stream) {                                    \
        return fill(__func__, {to, count * sizeof(type)}, value, sizeof(type), count, 1, stream,  \
                    Return::at_once);                                                             \
    }                                                                                             \
    WARPSCOPE_DRIVER(cuMemsetD2D##bits, cuMemsetD2D##bits##_v2, Address to, std::size_t pitch,    \
                     type value, std::size_t width, std::size_t height) {                         \
        return fill(__func__, {to, pitch}, value, sizeof(type), width, height, nullptr,           \
                    Return::when_done);                                                           \
    }                                                                                             \
    WARPSCOPE_DRIVER(cuMemsetD2D##bits##Async, cuMemsetD2D##bits##Async, Address to,              \
                     std::size_t pitch, type value, std::size_t width, std::size_t height,        \
                     StreamHandle stream) {                                                       \
        return fill(__func__, {to, pitch}, value, sizeof(type), width, height, stream,            \
                    Return::at_once);                                                             \
    }
WARPSCOPE_FILL(8, unsigned char)
WARPSCOPE_FILL(16, unsigned short)
WARPSCOPE_FILL(32, unsigned)

namespace {

using Properties = decltype(PhysicalMemory::properties);

struct AccessDescription {  // CUmemAccessDesc
    int location_type, device;
    int flags;  ///< CUmemAccess_flags
};
constexpr int read_and_write = 3;

/// Memory that has an address, and to which no device has access yet.
struct Mapping {
    std::size_t bytes, offset;
    MemoryFile file;
};
std::map<Address, Mapping>& mappings() {
    static auto* const all = new std::map<Address, Mapping>;
    return *all;
}

bool is_mapped(Gpu& gpu, Address begin, std::size_t bytes) {
    const auto touches = [&](Address address, std::size_t size) {
        return address < begin + bytes && begin < address + size;
    };
    return std::ranges::any_of(
               gpu.memory().blocks(),
               [&](const auto& block) { return touches(block.first, block.second.bytes); }) ||
           std::ranges::any_of(mappings(), [&](const auto& mapping) {
               return touches(mapping.first, mapping.second.bytes);
           });
}

/// Lets the device access the mappings of a range.
void give_access(Gpu& gpu, Address begin, std::size_t bytes, const AccessDescription& access) {
    demand(access.flags == read_and_write, Status::not_supported,
           "other access than reading and writing is not supported");
    for (auto at = mappings().lower_bound(begin);
         at != mappings().end() && at->first < begin + bytes; at = mappings().erase(at)) {
        const Mapping& mapping = at->second;
        demand(gpu.memory().allocate_at(at->first, mapping.bytes, MemoryKind::device,
                                        mapping.file.number(), mapping.offset),
               Status::invalid_value, "something is mapped there already");
    }
}

/// Unmaps what lies in a range.
void unmap(Gpu& gpu, Address begin, std::size_t bytes) {
    gpu.streams().run_until_idle();
    const auto first = mappings().lower_bound(begin);
    const auto last = mappings().lower_bound(begin + bytes);
    const bool some = first != last;
    mappings().erase(first, last);
    std::vector<Address> inside;
    for (const auto& [address, block] : gpu.memory().blocks())
        if (address >= begin && address < begin + bytes) inside.push_back(address);
    demand(some || !inside.empty(), Status::invalid_value, "nothing is mapped there");
    for (const Address address : inside) gpu.free(address);
}

}  // namespace

WARPSCOPE_DRIVER(cuMemGetAllocationGranularity, cuMemGetAllocationGranularity, std::size_t* bytes,
                 const Properties*, int) {
    *bytes = memory_granularity;
    return Status::success;
}
WARPSCOPE_DRIVER(cuMemCreate, cuMemCreate, PhysicalMemory** memory, std::size_t bytes,
                 const Properties* properties, unsigned long long) {
    return driver_call(__func__, [&](Gpu&) {
        demand(bytes > 0 && bytes % memory_granularity == 0, Status::invalid_value,
               "the size is no multiple of what cuMemGetAllocationGranularity() says");
        demand(bytes <= DeviceMemory::total_bytes, Status::out_of_memory,
               "the emulated GPU has 8 GiB");
        *memory = new PhysicalMemory{MemoryFile(bytes), *properties};
    });
}
WARPSCOPE_DRIVER(cuMemRelease, cuMemRelease, PhysicalMemory* memory) {
    delete memory;  // what is mapped stays
    return Status::success;
}
WARPSCOPE_DRIVER(cuMemAddressReserve, cuMemAddressReserve, Address* begin, std::size_t bytes,
                 std::size_t alignment, Address, unsigned long long) {
    return driver_call(__func__, [&](Gpu& gpu) {
        demand(bytes > 0, Status::invalid_value, "a range of 0 bytes");
        *begin = gpu.memory().reserve(bytes, std::max(alignment, memory_granularity));
    });
}
// Addresses are never used again.
WARPSCOPE_DRIVER(cuMemAddressFree, cuMemAddressFree, Address, std::size_t) {
    return Status::success;
}
WARPSCOPE_DRIVER(cuMemMap, cuMemMap, Address at, std::size_t bytes, std::size_t offset,
                 PhysicalMemory* memory, unsigned long long) {
    return driver_call(__func__, [&](Gpu& gpu) {
        demand(offset + bytes <= memory->file.bytes(), Status::invalid_value,
               "more than the allocation has");
        demand(!is_mapped(gpu, at, bytes), Status::invalid_value,
               "something is mapped there already");
        mappings().emplace(at, Mapping{bytes, offset, memory->file.duplicate()});
    });
}
WARPSCOPE_DRIVER(cuMemUnmap, cuMemUnmap, Address begin, std::size_t bytes) {
    return driver_call(__func__, [&](Gpu& gpu) { unmap(gpu, begin, bytes); });
}
// All devices of a program have one memory, so access of one is access of all.
WARPSCOPE_DRIVER(cuMemSetAccess, cuMemSetAccess, Address begin, std::size_t bytes,
                 const AccessDescription* accesses, std::size_t count) {
    return driver_call(__func__, [&](Gpu& gpu) {
        demand(is_mapped(gpu, begin, bytes), Status::invalid_value, "nothing is mapped there");
        for (std::size_t i = 0; i < count; ++i) give_access(gpu, begin, bytes, accesses[i]);
    });
}
WARPSCOPE_DRIVER(cuMemGetAccess, cuMemGetAccess, unsigned long long* flags, const void*,
                 Address at) {
    return driver_call(__func__, [&](Gpu& gpu) { *flags = gpu.find(at) ? read_and_write : 0; });
}
WARPSCOPE_DRIVER(cuMemGetAllocationPropertiesFromHandle, cuMemGetAllocationPropertiesFromHandle,
                 Properties* properties, const PhysicalMemory* memory) {
    *properties = memory->properties;
    return Status::success;
}
WARPSCOPE_DRIVER(cuMemExportToShareableHandle, cuMemExportToShareableHandle, int* file,
                 const PhysicalMemory* memory, int type, unsigned long long) {
    return driver_call(__func__, [&](Gpu&) {
        constexpr int file_descriptor = 1;  // CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR
        demand(type == file_descriptor, Status::not_supported,
               "other handles than file descriptors are not supported");
        *file = memory->file.duplicate().release();
    });
}
WARPSCOPE_DRIVER(cuMemImportFromShareableHandle, cuMemImportFromShareableHandle,
                 PhysicalMemory** memory, void* file, int) {
    return driver_call(__func__, [&](Gpu&) {
        *memory =
            new PhysicalMemory{MemoryFile::duplicate(int(reinterpret_cast<std::intptr_t>(file)))};
    });
}
