// Source: CUDA Driver API, "Virtual Memory Management".
#include <algorithm>
#include <cstring>
#include <map>
#include <memory>

#include "programs/driver_api/driver.h"
#include "programs/memory/interprocess_memory.h"

using namespace warpscope::programs;

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
