#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace warpscope::emulator {

// The emulated device's global memory. An address is the real host address, so kernels and host
// share the bytes. Not for use from two threads at once, except find(), while no launch runs.
class Memory {
  public:
    struct Allocation {
        uint64_t begin = 0;
        uint64_t end = 0;
        bool owned = false;
    };

    Memory() = default;
    Memory(const Memory&) = delete;
    Memory& operator=(const Memory&) = delete;
    ~Memory();

    void* allocate(size_t bytes);  // 64-byte aligned, zeroed; throws Error when out of memory
    void free(void* pointer);      // throws Error for what allocate() did not return

    // Makes outside memory, such as a mapped pixel buffer, visible to kernels.
    void attach(void* host, size_t bytes);
    void detach(void* host);

    const Allocation* find(uint64_t address) const;  // the allocation that holds it, or nullptr
    // "16 bytes past the end of the allocation of 64 bytes at 0x…": for an error message.
    std::string describe(uint64_t address) const;
    size_t used_bytes() const { return used_bytes_; }  // owned allocations only

  private:
    void insert(uint64_t begin, size_t bytes, bool owned);
    void erase(void* pointer, bool owned);

    std::vector<Allocation> allocations_;  // sorted by address
    size_t used_bytes_ = 0;
};

}  // namespace warpscope::emulator
