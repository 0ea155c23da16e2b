// Source: CUDA Driver API, "Virtual Memory Management".
#include <cstring>
#include <memory>

#include "programs/driver/driver.h"
#include "programs/gpu/shared_memory.h"

using namespace warpscope::programs;

namespace {

using Properties = decltype(PhysicalMemory::properties);

/// Unmaps what lies in a range.
void unmap(Gpu& gpu, Address begin, std::size_t bytes) {
    gpu.streams().run_until_idle();
    std::vector<Address> inside;
    for (const auto& [address, block] : gpu.memory().blocks())
        if (address >= begin && address < begin + bytes) inside.push_back(address);
    demand(!inside.empty(), Status::invalid_value, "nothing is mapped there");
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
        demand(
            gpu.memory().allocate_at(at, bytes, MemoryKind::device, memory->file.number(), offset),
            Status::invalid_value, "something is mapped there already");
    });
}
WARPSCOPE_DRIVER(cuMemUnmap, cuMemUnmap, Address begin, std::size_t bytes) {
    return driver_call(__func__, [&](Gpu& gpu) { unmap(gpu, begin, bytes); });
}
// The one device may read and write all memory.
WARPSCOPE_DRIVER(cuMemSetAccess, cuMemSetAccess, Address, std::size_t, const void*, std::size_t) {
    return Status::success;
}
WARPSCOPE_DRIVER(cuMemGetAccess, cuMemGetAccess, unsigned long long* flags, const void*, Address) {
    *flags = 3;  // CU_MEM_ACCESS_FLAGS_PROT_READWRITE
    return Status::success;
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
