#include "emulator/warp/memory.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "emulator/program/error.h"
#include "emulator/program/module.h"
#include "emulator/program/source_line.h"

namespace warpscope::emulator {

namespace {

/// From this size on, the system clears a page when it is first used: to clear gigabytes at once
/// would take seconds.
constexpr std::size_t least_mapped_bytes = std::size_t(32) << 20;

/// Returns the size with the bytes behind an allocation that belong to none and are never accessed.
std::size_t with_gap(std::size_t bytes) {
    const std::size_t gap = std::clamp<std::size_t>(bytes, 4096, std::size_t(1) << 20);
    return (bytes + gap + 63) / 64 * 64;
}

/// Null if there is not enough memory.
void* zeroed(std::size_t bytes) {
    if (bytes >= least_mapped_bytes) {
        void* const pages = ::mmap(nullptr, with_gap(bytes), PROT_READ | PROT_WRITE,
                                   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (pages == MAP_FAILED) return nullptr;
        prefer_large_pages(pages, bytes);
        return pages;
    }
    void* const pointer = std::aligned_alloc(64, with_gap(bytes));
    if (pointer) std::memset(pointer, 0, bytes);
    return pointer;
}

void give_back(void* pointer, std::size_t bytes) {
    if (bytes >= least_mapped_bytes)
        ::munmap(pointer, with_gap(bytes));
    else
        std::free(pointer);
}

std::uint64_t distance_of(const Memory::Allocation& a, std::uint64_t address) {
    return address < a.begin ? a.begin - address : address >= a.end ? address - a.end : 0;
}

}  // namespace

Memory::~Memory() {
    for (const Allocation& a : allocations_)
        if (a.owned) give_back(reinterpret_cast<void*>(a.begin), a.end - a.begin);
}

void* Memory::allocate(std::size_t bytes) {
    void* const pointer = zeroed(bytes);
    if (!pointer)
        throw Error(
            fmt::format("the emulator cannot allocate {} bytes: choose a smaller size", bytes));
    insert(std::uint64_t(pointer), bytes, true);
    used_bytes_ += bytes;
    return pointer;
}

void Memory::free(void* pointer) {
    if (!pointer) return;
    give_back(pointer, erase(pointer, true));
}

void Memory::clear_grid_workspace() {
    constexpr std::size_t bytes = 64;
    if (!grid_workspace_) {
        grid_workspace_ = std::make_unique<std::byte[]>(bytes);
        attach(grid_workspace_.get(), bytes);
    }
    std::memset(grid_workspace_.get(), 0, bytes);
}

void Memory::attach(void* host, std::size_t bytes, const std::uint64_t* used_to) {
    insert(std::uint64_t(host), bytes, false, used_to);
}

void Memory::detach(void* host) {
    erase(host, false);
}

void Memory::insert(std::uint64_t begin, std::size_t bytes, bool owned,
                    const std::uint64_t* used_to) {
    const auto at =
        std::upper_bound(allocations_.begin(), allocations_.end(), begin,
                         [](std::uint64_t b, const Allocation& a) { return b < a.begin; });
    allocations_.insert(at, {begin, begin + bytes, owned, used_to});
}

std::size_t Memory::erase(void* pointer, bool owned) {
    const auto found = std::find_if(allocations_.begin(), allocations_.end(), [&](const auto& a) {
        return a.begin == std::uint64_t(pointer) && a.owned == owned;
    });
    if (found == allocations_.end())
        throw Error("an address is not the start of an emulated allocation");
    const std::size_t bytes = found->end - found->begin;
    if (owned) used_bytes_ -= bytes;
    allocations_.erase(found);
    return bytes;
}

const Memory::Allocation* Memory::find(std::uint64_t address) const {
    auto at = std::upper_bound(allocations_.begin(), allocations_.end(), address,
                               [](std::uint64_t b, const Allocation& a) { return b < a.begin; });
    if (at == allocations_.begin()) return nullptr;
    --at;
    return address < at->end ? &*at : nullptr;
}

const Memory::Allocation* Memory::nearest(std::uint64_t address) const {
    constexpr std::uint64_t near = 1ull << 30;
    const Allocation* found = nullptr;
    std::uint64_t distance = near + 1;
    for (const Allocation& a : allocations_)
        if (distance_of(a, address) < distance) {
            found = &a;
            distance = distance_of(a, address);
        }
    return found;
}

std::string Memory::describe(std::uint64_t address) const {
    constexpr std::uint64_t page = 4096;
    const auto number = [&](std::string_view what) {
        return fmt::format("global memory address {:#x}: {}", address, what);
    };
    if (allocations_.empty()) return number("nothing is allocated");
    if (address < page) return number("a null pointer?");
    const Allocation* const close = nearest(address);
    if (!close) return number("no allocation is near");
    const char* place = address < close->begin ? "before the beginning"
                        : address < close->end ? "at the end"
                                               : "past the end";
    return fmt::format("global memory, {} bytes {} of the allocation of {} bytes, the nearest",
                       distance_of(*close, address), place, close->end - close->begin);
}

void prefer_large_pages(void* memory, std::size_t bytes) {
    const auto begin = (std::uint64_t(memory) + large_page_bytes - 1) & ~(large_page_bytes - 1);
    const auto end = (std::uint64_t(memory) + bytes) & ~(large_page_bytes - 1);
    if (begin < end) ::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);
}

std::optional<AddressRange> find_global(const Memory& memory, const Module& module,
                                        std::uint64_t address, std::size_t bytes) {
    const std::uint64_t end = address + bytes;
    if (end < address) return std::nullopt;
    if (const Memory::Allocation* found = memory.find(address)) {
        if (end > found->end) return std::nullopt;
        return AddressRange{found->begin, found->end};
    }
    for (const Module::GlobalVariable& variable : module.variables()) {
        const auto begin = std::uint64_t(variable.data);
        if (address >= begin && end <= begin + variable.bytes)
            return AddressRange{begin, begin + variable.bytes};
    }
    return std::nullopt;
}

files::Sentence describe_global(const Memory& memory, const Module& module, std::uint64_t address) {
    if (const Memory::Allocation* found = memory.find(address))
        return files::sentence("byte {} of an allocation of {} bytes", address - found->begin,
                               found->end - found->begin);
    for (const Module::GlobalVariable& variable : module.variables()) {
        const auto begin = std::uint64_t(variable.data);
        if (address >= begin && address < begin + variable.bytes)
            return files::sentence("byte {} of the variable {}", address - begin,
                                   source_name(variable.name));
    }
    return files::sentence("address {}", fmt::format("{:#x}", address));
}

}  // namespace warpscope::emulator
