#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>

namespace warpscope::emulator {

/// Large pages of x86-64 Linux.
constexpr std::uint64_t large_page_bytes = std::uint64_t(2) << 20;

/// Asks the system for large pages behind memory that nobody has used yet. Threads that walk
/// through hundreds of MiB with large steps, as grid-stride loops do, wait for page tables
/// otherwise. Memory that is too small for large pages stays as it is.
inline void prefer_large_pages(void* memory, std::size_t bytes) {
    const auto begin = (std::uint64_t(memory) + large_page_bytes - 1) & ~(large_page_bytes - 1);
    const auto end = (std::uint64_t(memory) + bytes) & ~(large_page_bytes - 1);
    if (begin < end) ::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);
}

}  // namespace warpscope::emulator
