#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "emulator/warp/textures.h"
#include "files/sentence.h"

namespace warpscope::emulator {

/// The global memory of the emulated GPU. An address is a host address, so kernels and host code
/// share the bytes. Two threads must not use it at once, except for find(). It must not change
/// while a launch runs.
class Memory {
  public:
    struct Allocation {
        std::uint64_t begin = 0;
        std::uint64_t end = 0;
        bool owned = false;  ///< by this object, not attached
        /// Holds the address up to which launches have used the memory; null: they use all of it.
        const std::uint64_t* used_to = nullptr;

        std::uint64_t used_bytes() const {
            return (used_to ? std::min(*used_to, end) : end) - begin;
        }
    };

    Memory() = default;
    Memory(const Memory&) = delete;
    Memory& operator=(const Memory&) = delete;
    ~Memory();

    /// 64-byte aligned, zero, and far enough from the others that what passes its end is in none.
    /// Throws Error when out of memory.
    void* allocate(std::size_t bytes);
    void free(void* pointer);  ///< throws Error if allocate() has not returned it

    /// Makes memory of the host, such as a mapped pixel buffer, accessible to kernels. `used_to`:
    /// see Allocation.
    void attach(void* host, std::size_t bytes, const std::uint64_t* used_to = nullptr);
    void detach(void* host);

    /// Sets the memory in which the blocks of a cooperative launch count who has arrived at the
    /// barrier of the grid to zero: see the special registers %envreg1 and %envreg2.
    void clear_grid_workspace();
    /// Texture and surface objects, which describe memory.
    Textures& textures() { return textures_; }
    const Textures& textures() const { return textures_; }

    std::uint64_t grid_workspace() const { return std::uint64_t(grid_workspace_.get()); }

    const std::vector<Allocation>& allocations() const { return allocations_; }  ///< by address
    const Allocation* find(std::uint64_t address) const;  ///< contains it; or nullptr
    /// The one that is nearest, at most 1 GiB away; or nullptr.
    const Allocation* nearest(std::uint64_t address) const;
    /// Describes an address for an error message: "global memory, 16 bytes past the end of the
    /// allocation of 64 bytes, the nearest". An address far from every allocation is named itself.
    std::string describe(std::uint64_t address) const;
    std::size_t used_bytes() const { return used_bytes_; }  ///< of allocate() only

  private:
    void insert(std::uint64_t begin, std::size_t bytes, bool owned,
                const std::uint64_t* used_to = nullptr);
    std::size_t erase(void* pointer, bool owned);  ///< returns its bytes

    Textures textures_;
    std::unique_ptr<std::byte[]> grid_workspace_;
    std::vector<Allocation> allocations_;  ///< sorted by address
    std::size_t used_bytes_ = 0;
};

/// Large pages of x86-64 Linux.
constexpr std::uint64_t large_page_bytes = std::uint64_t(2) << 20;

/// Asks the system for large pages behind memory that nobody has used yet. Threads that walk
/// through hundreds of MiB with large steps, as grid-stride loops do, wait for page tables
/// otherwise. Memory that is too small for large pages stays as it is.
void prefer_large_pages(void* memory, std::size_t bytes);

class Memory;
class Module;

/// The addresses [begin, end).
struct AddressRange {
    std::uint64_t begin = 1, end = 0;
};

/// The allocation or the variable of the module that contains `bytes` bytes of global memory at
/// `address`; nothing for an invalid access.
std::optional<AddressRange> find_global(const Memory& memory, const Module& module,
                                        std::uint64_t address, std::size_t bytes);

/// Describes an address for people: "byte 12 of an allocation of 400 bytes", "byte 4 of the
/// variable count".
files::Sentence describe_global(const Memory& memory, const Module& module, std::uint64_t address);

}  // namespace warpscope::emulator
