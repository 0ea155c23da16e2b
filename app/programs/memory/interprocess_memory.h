#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace warpscope::programs {

class DeviceMemory;

/// A file of memory that processes can share; it is closed when the object ends.
class MemoryFile {
  public:
    /// Throws CallError if the host has no memory for it.
    explicit MemoryFile(std::size_t bytes);
    /// Takes over an open file.
    static MemoryFile of_number(int file);
    MemoryFile(MemoryFile&& other) noexcept;
    MemoryFile& operator=(MemoryFile&&) = delete;
    ~MemoryFile();

    int number() const { return file_; }
    std::size_t bytes() const;
    int release();  ///< the number, which the caller closes
    MemoryFile duplicate() const { return duplicate(file_); }
    /// Opens an open file again. Throws CallError.
    static MemoryFile duplicate(int file);

  private:
    MemoryFile() = default;
    int file_ = -1;
};

/// CUmemGenericAllocationHandle: memory of the device that has no address until it is mapped.
struct PhysicalMemory {
    MemoryFile file;
    std::array<std::byte, 32> properties{};  ///< CUmemAllocationProp
};
/// Where a piece of memory begins that is mapped or allocated in steps of this size.
inline constexpr std::size_t memory_granularity = std::size_t(2) << 20;

/// cudaIpcMemHandle_t, cudaMemPoolPtrExportData: how another process finds an allocation.
struct MemoryTicket {
    int process, file;
    std::size_t bytes, offset;
    std::byte reserved[40];
};

/// Makes an allocation one that other processes can open. No work may access it meanwhile. Throws
/// CallError.
MemoryTicket ticket_for(DeviceMemory& memory, std::uint64_t address);
/// Returns the address in this process of the memory of a ticket. Throws CallError.
std::uint64_t open_memory(DeviceMemory& memory, const MemoryTicket& ticket);

}  // namespace warpscope::programs
