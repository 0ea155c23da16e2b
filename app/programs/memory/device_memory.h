#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <set>

#include "emulator/warp/memory.h"

namespace warpscope::programs {

enum class MemoryKind : std::uint8_t {
    device,   ///< cudaMalloc: only kernels and copies use it
    managed,  ///< cudaMallocManaged: the host uses it too
    host      ///< cudaMallocHost, cudaHostRegister: memory of the host that kernels can use
};

/// The bytes from a row to the next one, as cudaMallocPitch() chooses them.
constexpr std::size_t pitch_for(std::size_t width) {
    constexpr std::size_t alignment = 512;
    return (width + alignment - 1) / alignment * alignment;
}

/// The number of the GPU that the calling thread uses: cudaSetDevice().
inline thread_local int current_device = 0;

/// A piece of memory that the program has allocated.
struct MemoryBlock {
    std::uint64_t begin = 0;  ///< its address, for kernels and the host alike
    std::size_t bytes = 0;
    MemoryKind kind = MemoryKind::device;
    bool registered = false;  ///< the program's own memory: cudaHostRegister
    int file = -1;            ///< of its content, if other processes use it
    int device = 0;           ///< the GPU that was current when it was allocated

    std::uint64_t end() const { return begin + bytes; }
};

/// A rectangle of bytes in memory: `height` rows of `width` bytes, `pitch` bytes apart.
struct Rows {
    std::uint64_t address = 0;
    std::size_t pitch = 0;
};

/// From which memory to which a copy goes, with the numbers of cudaMemcpyKind.
enum class Direction : int { host_to_host, host_to_device, device_to_host, device_to_device, any };

/// What a program has allocated on the emulated GPU. Addresses depend only on the order of the
/// allocations, so that two runs of a program have the same ones.
class DeviceMemory {
  public:
    /// Larger sums of allocations fail, as on a GPU with this memory.
    static constexpr std::size_t total_bytes = std::size_t(8) << 30;

    explicit DeviceMemory(emulator::Memory& memory) : memory_(memory) {}
    DeviceMemory(const DeviceMemory&) = delete;
    DeviceMemory& operator=(const DeviceMemory&) = delete;

    /// Returns the address of `bytes` > 0 zero bytes, 256-byte aligned as cudaMalloc's; 0 if there
    /// is not enough memory.
    std::uint64_t allocate(std::size_t bytes, MemoryKind kind);
    /// Returns the allocation that was freed; nullopt if none begins at the address.
    std::optional<MemoryBlock> free(std::uint64_t address);
    /// Makes memory of the program accessible to kernels; false if a part of it is already.
    bool attach(void* host, std::size_t bytes);
    bool detach(void* host);

    /// Returns the allocation that contains the address.
    const MemoryBlock* find(std::uint64_t address) const;
    const std::map<std::uint64_t, MemoryBlock>& blocks() const { return blocks_; }
    std::size_t used_bytes() const { return used_; }
    /// Whether there is memory that the host and kernels use.
    bool has_host_memory() const { return of_host_ > 0; }

    /// Maps `bytes` zero bytes at `address`, which an earlier run of the program has had, or a part
    /// of a file; false if something else is there.
    bool allocate_at(std::uint64_t address, std::size_t bytes, MemoryKind kind, int file = -1,
                     std::size_t offset = 0);
    /// Returns an address from which on `bytes` bytes are used by nothing else.
    std::uint64_t reserve(std::size_t bytes, std::size_t alignment);
    /// Moves the content of the allocation that begins at the address to a file, which the
    /// allocation owns from then on.
    void share(std::uint64_t address, int file);

    /// From now on an access to memory of the device ends in SIGSEGV, whose handler calls open().
    void guard() { is_guarded_ = true; }
    /// A call or work begins, which may access memory of the device.
    void begin_work() {
        if (is_guarded_) works_ = true;
    }
    /// Makes the allocation that contains the address accessible until the end of the work. False
    /// if there is none, or no work runs. Threads may call it at once.
    bool open(std::uint64_t address);
    void end_work() {
        if (is_guarded_) close();
    }

  private:
    void close();

    emulator::Memory& memory_;
    std::map<std::uint64_t, MemoryBlock> blocks_;  ///< by address
    std::uint64_t next_ = first_address;
    std::size_t used_ = 0;
    std::size_t of_host_ = 0;  ///< blocks that the host uses too
    bool is_guarded_ = false;
    std::atomic<bool> works_ = false;
    std::mutex opening_;
    std::set<std::uint64_t> open_;  ///< the addresses of allocations of the device

    /// Far from what the loader and malloc use.
#ifdef __SANITIZE_THREAD__  // ThreadSanitizer has data of its own at the usual address
    static constexpr std::uint64_t first_address = 0x40'0000'0000;
#else
    static constexpr std::uint64_t first_address = 0x2000'0000'0000;
#endif
};

struct DeviceHeap;  // programs/images/ptx_link.h

/// Makes the device's heap, accessible to kernels. Throws CallError.
DeviceHeap* make_heap(emulator::Memory& memory, std::uint64_t limit);
/// Unmaps it when no kernel runs any more; null: there is none.
void release_heap(DeviceHeap* heap);

}  // namespace warpscope::programs
