// Source: CUDA Runtime API, "Memory Management", "Unified Addressing", "Stream Ordered Memory
// Allocator".
// Source: CUDA Runtime API and CUDA Driver API, "Stream Ordered Memory Allocator". All pools
// allocate from the one memory of the device; their attributes are stored and have no effect.
#include <cstring>

#include "programs/memory/interprocess_memory.h"
#include "programs/runtime_api/arrays.h"
#include "programs/runtime_api/runtime.h"

using namespace warpscope::programs;

namespace {

Status allocate(const char* function, void** pointer, std::size_t bytes, MemoryKind kind) {
    return runtime_call(function, [&](Gpu& gpu) {
        demand(pointer, Status::invalid_value, "the pointer to the pointer is null");
        *pointer = bytes ? reinterpret_cast<void*>(gpu.allocate(bytes, kind)) : nullptr;
    });
}

Status release(const char* function, void* pointer) {
    return runtime_call(function, [&](Gpu& gpu) { gpu.free(address(pointer)); });
}

Status copy(const char* function, void* to, const void* from, std::size_t bytes, int kind,
            StreamHandle stream, Return returns) {
    return runtime_call(function, [&](Gpu& gpu) {
        gpu.copy(address(to), address(from), bytes, direction_of(kind), stream_of(stream), returns);
    });
}

Status copy_2d(const char* function, Rows to, Rows from, std::size_t width, std::size_t height,
               int kind, StreamHandle stream, Return returns) {
    return runtime_call(function, [&](Gpu& gpu) {
        gpu.copy_rows(to, from, width, height, direction_of(kind), stream_of(stream), returns);
    });
}

Status fill(const char* function, Rows to, int value, std::size_t width, std::size_t height,
            StreamHandle stream, Return returns) {
    return runtime_call(function, [&](Gpu& gpu) {
        gpu.fill(to, unsigned(value) & 255, 1, width, height, stream_of(stream), returns);
    });
}

Address within_symbol(const void* symbol, std::size_t bytes, std::size_t offset) {
    const auto& variable = variable_of(symbol);
    demand(offset + bytes <= variable.bytes, Status::invalid_value,
           "a copy beyond the end of the variable");
    return address(variable.data) + offset;
}

Status copy_to_symbol(const char* function, const void* symbol, const void* from, std::size_t bytes,
                      std::size_t offset, int kind, StreamHandle stream, Return returns) {
    return runtime_call(function, [&](Gpu& gpu) {
        gpu.copy(within_symbol(symbol, bytes, offset), address(from), bytes, direction_of(kind),
                 stream_of(stream), returns);
    });
}

Status copy_from_symbol(const char* function, void* to, const void* symbol, std::size_t bytes,
                        std::size_t offset, int kind, StreamHandle stream, Return returns) {
    return runtime_call(function, [&](Gpu& gpu) {
        gpu.copy(address(to), within_symbol(symbol, bytes, offset), bytes, direction_of(kind),
                 stream_of(stream), returns);
    });
}

struct PointerAttributes {  // cudaPointerAttributes
    int type, device;
    void *device_pointer, *host_pointer;
};
enum PointerType { unregistered, host_memory, device_memory, managed_memory };  // cudaMemoryType

PointerType type_of(const std::optional<MemoryBlock>& block) {
    if (!block) return unregistered;
    switch (block->kind) {
        case MemoryKind::host:
            return host_memory;
        case MemoryKind::managed:
            return managed_memory;
        case MemoryKind::device:
            break;
    }
    return device_memory;
}

}  // namespace

WARPSCOPE_RUNTIME(cudaMalloc, void** pointer, std::size_t bytes) {
    return allocate(__func__, pointer, bytes, MemoryKind::device);
}
WARPSCOPE_RUNTIME(cudaMallocManaged, void** pointer, std::size_t bytes, unsigned) {
    return allocate(__func__, pointer, bytes, MemoryKind::managed);
}
WARPSCOPE_RUNTIME(cudaMallocHost, void** pointer, std::size_t bytes) {
    return allocate(__func__, pointer, bytes, MemoryKind::host);
}
WARPSCOPE_RUNTIME(cudaHostAlloc, void** pointer, std::size_t bytes, unsigned) {
    return allocate(__func__, pointer, bytes, MemoryKind::host);
}
WARPSCOPE_RUNTIME(cudaMallocPitch, void** pointer, std::size_t* pitch, std::size_t width,
                  std::size_t height) {
    *pitch = pitch_for(width);
    return allocate(__func__, pointer, *pitch * height, MemoryKind::device);
}
WARPSCOPE_RUNTIME(cudaMalloc3D, PitchedPointer* to, Extent extent) {
    *to = {nullptr, pitch_for(extent.width), extent.width, extent.height};
    return allocate(__func__, &to->pointer, to->pitch * extent.height * extent.depth,
                    MemoryKind::device);
}
WARPSCOPE_RUNTIME(cudaMallocAsync, void** pointer, std::size_t bytes, StreamHandle stream) {
    return runtime_call(__func__, [&](Gpu& gpu) {
        *pointer =
            bytes ? reinterpret_cast<void*>(gpu.allocate_in(stream_of(stream), bytes)) : nullptr;
    });
}
WARPSCOPE_RUNTIME(cudaFree, void* pointer) {
    return release(__func__, pointer);
}
WARPSCOPE_RUNTIME(cudaFreeHost, void* pointer) {
    return release(__func__, pointer);
}
WARPSCOPE_RUNTIME(cudaFreeAsync, void* pointer, StreamHandle stream) {
    return runtime_call(__func__,
                        [&](Gpu& gpu) { gpu.free_in(stream_of(stream), address(pointer)); });
}
WARPSCOPE_BOTH(cudaHostRegister, cuMemHostRegister, _v2,
               (void* pointer, std::size_t bytes, unsigned),
               demand(gpu.memory().attach(pointer, bytes), Status::memory_already_registered,
                      "the memory is registered already"))
WARPSCOPE_BOTH(cudaHostUnregister, cuMemHostUnregister, , (void* pointer),
               gpu.streams().run_until_idle();
               demand(gpu.memory().detach(pointer), Status::memory_not_registered,
                      "the memory is not registered"))
WARPSCOPE_RUNTIME(cudaHostGetDevicePointer, void** device, void* host, unsigned) {
    return runtime_call(__func__, [&](Gpu& gpu) {
        demand(gpu.find(address(host)).has_value(), Status::invalid_value,
               "the memory was not allocated by CUDA");
        *device = host;
    });
}
WARPSCOPE_RUNTIME(cudaHostGetFlags, unsigned* flags, void*) {
    *flags = 2;  // cudaHostAllocMapped
    return Status::success;
}
WARPSCOPE_BOTH(cudaMemGetInfo, cuMemGetInfo, _v2, (std::size_t * free, std::size_t* total),
               *total = DeviceMemory::total_bytes;
               *free = *total - gpu.memory().used_bytes())
WARPSCOPE_RUNTIME(cudaMemcpy, void* to, const void* from, std::size_t bytes, int kind) {
    return copy(__func__, to, from, bytes, kind, nullptr, Return::when_done);
}
WARPSCOPE_RUNTIME(cudaMemcpyAsync, void* to, const void* from, std::size_t bytes, int kind,
                  StreamHandle stream) {
    return copy(__func__, to, from, bytes, kind, stream, Return::at_once);
}
WARPSCOPE_RUNTIME(cudaMemcpyPeer, void* to, int, const void* from, int, std::size_t bytes) {
    return copy(__func__, to, from, bytes, int(Direction::device_to_device), nullptr,
                Return::when_done);
}
WARPSCOPE_RUNTIME(cudaMemcpyPeerAsync, void* to, int, const void* from, int, std::size_t bytes,
                  StreamHandle stream) {
    return copy(__func__, to, from, bytes, int(Direction::device_to_device), stream,
                Return::at_once);
}
WARPSCOPE_RUNTIME(cudaMemcpy2D, void* to, std::size_t to_pitch, const void* from,
                  std::size_t from_pitch, std::size_t width, std::size_t height, int kind) {
    return copy_2d(__func__, {address(to), to_pitch}, {address(from), from_pitch}, width, height,
                   kind, nullptr, Return::when_done);
}
WARPSCOPE_RUNTIME(cudaMemcpy2DAsync, void* to, std::size_t to_pitch, const void* from,
                  std::size_t from_pitch, std::size_t width, std::size_t height, int kind,
                  StreamHandle stream) {
    return copy_2d(__func__, {address(to), to_pitch}, {address(from), from_pitch}, width, height,
                   kind, stream, Return::at_once);
}
WARPSCOPE_RUNTIME(cudaMemset, void* to, int value, std::size_t bytes) {
    return fill(__func__, {address(to), bytes}, value, bytes, 1, nullptr, Return::when_done);
}
WARPSCOPE_RUNTIME(cudaMemsetAsync, void* to, int value, std::size_t bytes, StreamHandle stream) {
    return fill(__func__, {address(to), bytes}, value, bytes, 1, stream, Return::at_once);
}
WARPSCOPE_RUNTIME(cudaMemset2D, void* to, std::size_t pitch, int value, std::size_t width,
                  std::size_t height) {
    return fill(__func__, {address(to), pitch}, value, width, height, nullptr, Return::when_done);
}
WARPSCOPE_RUNTIME(cudaMemset2DAsync, void* to, std::size_t pitch, int value, std::size_t width,
                  std::size_t height, StreamHandle stream) {
    return fill(__func__, {address(to), pitch}, value, width, height, stream, Return::at_once);
}
WARPSCOPE_RUNTIME(cudaMemset3D, PitchedPointer to, int value, Extent extent) {
    return fill(__func__, {address(to.pointer), to.pitch}, value, extent.width,
                to.height * (extent.depth - 1) + extent.height, nullptr, Return::when_done);
}
WARPSCOPE_RUNTIME(cudaMemcpyToSymbol, const void* symbol, const void* from, std::size_t bytes,
                  std::size_t offset, int kind) {
    return copy_to_symbol(__func__, symbol, from, bytes, offset, kind, nullptr, Return::when_done);
}
WARPSCOPE_RUNTIME(cudaMemcpyToSymbolAsync, const void* symbol, const void* from, std::size_t bytes,
                  std::size_t offset, int kind, StreamHandle stream) {
    return copy_to_symbol(__func__, symbol, from, bytes, offset, kind, stream, Return::at_once);
}
WARPSCOPE_RUNTIME(cudaMemcpyFromSymbol, void* to, const void* symbol, std::size_t bytes,
                  std::size_t offset, int kind) {
    return copy_from_symbol(__func__, to, symbol, bytes, offset, kind, nullptr, Return::when_done);
}
WARPSCOPE_RUNTIME(cudaMemcpyFromSymbolAsync, void* to, const void* symbol, std::size_t bytes,
                  std::size_t offset, int kind, StreamHandle stream) {
    return copy_from_symbol(__func__, to, symbol, bytes, offset, kind, stream, Return::at_once);
}
WARPSCOPE_RUNTIME(cudaGetSymbolAddress, void** pointer, const void* symbol) {
    return runtime_call(__func__, [&](Gpu&) { *pointer = variable_of(symbol).data; });
}
WARPSCOPE_RUNTIME(cudaGetSymbolSize, std::size_t* bytes, const void* symbol) {
    return runtime_call(__func__, [&](Gpu&) { *bytes = variable_of(symbol).bytes; });
}
WARPSCOPE_RUNTIME(cudaPointerGetAttributes, PointerAttributes* to, const void* pointer) {
    return runtime_call(__func__, [&](Gpu& gpu) {
        const auto block = gpu.find(address(pointer));
        void* const same = const_cast<void*>(pointer);
        const PointerType type = type_of(block);
        *to = {type, block ? 0 : -2, block ? same : nullptr,
               type == device_memory ? nullptr : same};
    });
}
// Managed memory is where the host and the emulator both find it: there is nothing to move.
WARPSCOPE_RUNTIME(cudaMemPrefetchAsync) {
    return Status::success;
}
WARPSCOPE_RUNTIME(cudaMemPrefetchAsync_v2) {
    return Status::success;
}
WARPSCOPE_RUNTIME(cudaMemAdvise) {
    return Status::success;
}
WARPSCOPE_RUNTIME(cudaMemAdvise_v2) {
    return Status::success;
}
WARPSCOPE_RUNTIME(cudaStreamAttachMemAsync) {
    return Status::success;
}

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
