#include "programs/memory/device_memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>

#include "emulator/warp/memory.h"
#include "programs/images/ptx_link.h"
#include "programs/images/status.h"

namespace warpscope::programs {

namespace {

constexpr std::uint64_t page = 4096;
/// Between two allocations, so that an access beyond the end of one is in none.
constexpr std::uint64_t gap = 16 * page;

std::uint64_t rounded_up(std::uint64_t value, std::uint64_t step) {
    return (value + step - 1) / step * step;
}

std::uint64_t whole_pages(std::size_t bytes) {
    return rounded_up(bytes, page);
}

bool map_at(std::uint64_t address, std::size_t bytes, int protection, int file,
            std::size_t offset) {
    void* const wanted = reinterpret_cast<void*>(address);
    const int of_file = file < 0 ? MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE : MAP_SHARED;
    if (mmap(wanted, whole_pages(bytes), protection, of_file | MAP_FIXED_NOREPLACE, file,
             off_t(offset)) != wanted)
        return false;
    if (file < 0) emulator::prefer_large_pages(wanted, bytes);
    return true;
}

void protect(const MemoryBlock& block, int protection) {
    mprotect(reinterpret_cast<void*>(block.begin), whole_pages(block.bytes), protection);
}

/// The heap takes up address space only; a page takes memory when a kernel writes it.
constexpr std::size_t most_heap_bytes = std::size_t(64) << 30;

}  // namespace

std::uint64_t DeviceMemory::allocate(std::size_t bytes, MemoryKind kind) {
    if (bytes > total_bytes - used_) return 0;
    const std::uint64_t step =
        bytes < emulator::large_page_bytes ? page : emulator::large_page_bytes;
    const std::uint64_t address = rounded_up(next_, step);
    if (!allocate_at(address, bytes, kind)) return 0;
    return address;
}

bool DeviceMemory::allocate_at(std::uint64_t address, std::size_t bytes, MemoryKind kind, int file,
                               std::size_t offset) {
    const bool is_hidden = is_guarded_ && kind == MemoryKind::device;
    const int protection = is_hidden ? PROT_NONE : PROT_READ | PROT_WRITE;
    if (!map_at(address, bytes, protection, file, offset)) return false;
    memory_.attach(reinterpret_cast<void*>(address), bytes);
    blocks_[address] = {.begin = address, .bytes = bytes, .kind = kind, .device = current_device};
    used_ += bytes;
    of_host_ += kind != MemoryKind::device;
    next_ = std::max(next_, address + whole_pages(bytes) + gap);
    return true;
}

std::uint64_t DeviceMemory::reserve(std::size_t bytes, std::size_t alignment) {
    const std::uint64_t step = std::max<std::uint64_t>(alignment, page);
    const std::uint64_t address = rounded_up(next_, step);
    next_ = address + whole_pages(bytes) + gap;
    return address;
}

void DeviceMemory::share(std::uint64_t address, int file) {
    MemoryBlock& block = blocks_.at(address);
    void* const pages = reinterpret_cast<void*>(address);
    for (std::size_t at = 0; at < block.bytes;) {
        const ssize_t written =
            pwrite(file, static_cast<const char*>(pages) + at, block.bytes - at, off_t(at));
        if (written <= 0) break;
        at += std::size_t(written);
    }
    mmap(pages, whole_pages(block.bytes), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0);
    block.file = file;
}

bool DeviceMemory::open(std::uint64_t address) {
    if (!works_) return false;
    const MemoryBlock* const block = find(address);
    if (!block || block->kind != MemoryKind::device) return false;
    const std::scoped_lock lock(opening_);
    if (open_.insert(block->begin).second) protect(*block, PROT_READ | PROT_WRITE);
    return true;
}

void DeviceMemory::close() {
    works_ = false;
    for (const std::uint64_t address : open_) protect(*find(address), PROT_NONE);
    open_.clear();
}

std::optional<MemoryBlock> DeviceMemory::free(std::uint64_t address) {
    const auto found = blocks_.find(address);
    if (found == blocks_.end() || found->second.registered) return {};
    const MemoryBlock block = found->second;
    memory_.detach(reinterpret_cast<void*>(address));
    munmap(reinterpret_cast<void*>(address), whole_pages(block.bytes));
    if (block.file >= 0) ::close(block.file);
    used_ -= block.bytes;
    of_host_ -= block.kind != MemoryKind::device;
    open_.erase(address);
    blocks_.erase(found);
    return block;
}

bool DeviceMemory::attach(void* host, std::size_t bytes) {
    const auto address = reinterpret_cast<std::uint64_t>(host);
    const auto next = blocks_.lower_bound(address);
    if (find(address) || (next != blocks_.end() && next->first < address + bytes)) return false;
    memory_.attach(host, bytes);
    ++of_host_;
    blocks_[address] = {.begin = address,
                        .bytes = bytes,
                        .kind = MemoryKind::host,
                        .registered = true,
                        .device = current_device};
    return true;
}

bool DeviceMemory::detach(void* host) {
    const auto found = blocks_.find(reinterpret_cast<std::uint64_t>(host));
    if (found == blocks_.end() || !found->second.registered) return false;
    memory_.detach(host);
    --of_host_;
    blocks_.erase(found);
    return true;
}

const MemoryBlock* DeviceMemory::find(std::uint64_t address) const {
    const auto above = blocks_.upper_bound(address);
    if (above == blocks_.begin()) return nullptr;
    const MemoryBlock& block = std::prev(above)->second;
    return address < block.end() ? &block : nullptr;
}

DeviceHeap* make_heap(emulator::Memory& memory, std::uint64_t limit) {
    void* const pages = mmap(nullptr, most_heap_bytes, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    demand(pages != MAP_FAILED, Status::out_of_memory,
           "the host has no address space for the device's heap");
    auto* const heap = static_cast<DeviceHeap*>(pages);
    const auto begin = reinterpret_cast<std::uint64_t>(pages);
    *heap = {begin + sizeof(DeviceHeap) + 8, 0, limit};
    memory.attach(pages, most_heap_bytes, &heap->next);
    return heap;
}

void release_heap(DeviceHeap* heap) {
    if (heap) munmap(heap, most_heap_bytes);
}

}  // namespace warpscope::programs
