// Source: CUDA Runtime API and CUDA Driver API, "Stream Ordered Memory Allocator". All pools
// allocate from the one memory of the device; their attributes are stored and have no effect.
#include <cstring>

#include "programs/memory/interprocess_memory.h"
#include "programs/runtime_api/both.h"

using namespace warpscope::programs;

namespace {

struct Pool {  // CUmemoryPool
    std::map<int, std::uint64_t> attributes;
    std::optional<MemoryFile> file;  ///< stands for the pool in other processes
};

MemoryTicket shared_memory(Gpu& gpu, std::uint64_t address) {
    gpu.streams().run_until_idle();
    return ticket_for(gpu.memory(), address);
}

Pool default_pool;
Pool* current_pool = &default_pool;

// cudaMemPoolAttr: numbers below have 4 bytes and are 1 at first, the others have 8.
constexpr int release_threshold = 4;

std::size_t bytes_of_attribute(int number) {
    demand(number >= 1 && number <= release_threshold, Status::not_supported,
           "how much a pool uses is not counted");
    return number < release_threshold ? sizeof(int) : sizeof(std::uint64_t);
}

void set_attribute(Pool& pool, int number, const void* value) {
    std::uint64_t& stored = pool.attributes[number];
    stored = 0;
    std::memcpy(&stored, value, bytes_of_attribute(number));
}

void get_attribute(const Pool& pool, int number, void* value) {
    const auto found = pool.attributes.find(number);
    const std::uint64_t at_first = number < release_threshold;
    std::memcpy(value, found == pool.attributes.end() ? &at_first : &found->second,
                bytes_of_attribute(number));
}

void destroy(Pool* pool) {
    demand(pool != &default_pool, Status::invalid_value, "the default pool cannot be destroyed");
    if (current_pool == pool) current_pool = &default_pool;
    delete pool;
}

int exported(Pool& pool) {
    if (!pool.file) pool.file.emplace(memory_granularity);
    return pool.file->duplicate().release();
}

MemoryTicket ticket_of(const Event& event) {
    demand(event.is_shared, Status::invalid_value, "the event was not created for processes");
    return {};
}

constexpr int read_and_write = 3;  // cudaMemAccessFlagsProtReadWrite

}  // namespace

WARPSCOPE_BOTH(cudaDeviceGetDefaultMemPool, cuDeviceGetDefaultMemPool, , (Pool * *pool, int),
               *pool = &default_pool)
WARPSCOPE_BOTH(cudaDeviceGetMemPool, cuDeviceGetMemPool, , (Pool * *pool, int),
               *pool = current_pool)
WARPSCOPE_BOTH(cudaDeviceSetMemPool, cuDeviceSetMemPool, , (int, Pool* pool), current_pool = pool)
WARPSCOPE_BOTH(cudaMemPoolCreate, cuMemPoolCreate, , (Pool * *pool, const void*), *pool = new Pool)
WARPSCOPE_BOTH(cudaMemPoolDestroy, cuMemPoolDestroy, , (Pool * pool), destroy(pool))
WARPSCOPE_BOTH(cudaMemPoolTrimTo, cuMemPoolTrimTo, , (Pool*, std::size_t), )
WARPSCOPE_BOTH(cudaMemPoolSetAttribute, cuMemPoolSetAttribute, ,
               (Pool * pool, int number, const void* value), set_attribute(*pool, number, value))
WARPSCOPE_BOTH(cudaMemPoolGetAttribute, cuMemPoolGetAttribute, ,
               (const Pool* pool, int number, void* value), get_attribute(*pool, number, value))
WARPSCOPE_BOTH(cudaMemPoolSetAccess, cuMemPoolSetAccess, , (Pool*, const void*, std::size_t), )
WARPSCOPE_BOTH(cudaMemPoolGetAccess, cuMemPoolGetAccess, , (int* flags, Pool*, const void*),
               *flags = read_and_write)
WARPSCOPE_BOTH(cudaMallocFromPoolAsync, cuMemAllocFromPoolAsync, ,
               (Address * to, std::size_t bytes, Pool*, StreamHandle stream),
               *to = gpu.allocate_in(stream_of(stream), bytes))

// Another process opens memory of a pool by a ticket; the file that it gets stands for the pool.
WARPSCOPE_BOTH(cudaMemPoolExportToShareableHandle, cuMemPoolExportToShareableHandle, ,
               (int* file, Pool* pool, int, unsigned), *file = exported(*pool))
WARPSCOPE_BOTH(cudaMemPoolImportFromShareableHandle, cuMemPoolImportFromShareableHandle, ,
               (Pool * *pool, void*, int, unsigned), *pool = new Pool)
WARPSCOPE_BOTH(cudaMemPoolExportPointer, cuMemPoolExportPointer, ,
               (MemoryTicket * ticket, Address address), *ticket = shared_memory(gpu, address))
WARPSCOPE_BOTH(cudaMemPoolImportPointer, cuMemPoolImportPointer, ,
               (Address * address, Pool*, const MemoryTicket* ticket),
               *address = open_memory(gpu.memory(), *ticket))
WARPSCOPE_BOTH(cudaIpcGetMemHandle, cuIpcGetMemHandle, , (MemoryTicket * ticket, Address address),
               *ticket = shared_memory(gpu, address))
WARPSCOPE_BOTH(cudaIpcOpenMemHandle, cuIpcOpenMemHandle, _v2,
               (Address * address, MemoryTicket ticket, unsigned),
               *address = open_memory(gpu.memory(), ticket))
WARPSCOPE_BOTH(cudaIpcCloseMemHandle, cuIpcCloseMemHandle, , (Address address), gpu.free(address))
// What an event of several processes records is done before the call returns, so that an event that
// another process opens has nothing to wait for.
WARPSCOPE_BOTH(cudaIpcGetEventHandle, cuIpcGetEventHandle, , (MemoryTicket * ticket, Event* event),
               *ticket = ticket_of(gpu.streams().checked(event)))
WARPSCOPE_BOTH(cudaIpcOpenEventHandle, cuIpcOpenEventHandle, , (Event * *event, MemoryTicket),
               *event = gpu.streams().create_event(false, true))
