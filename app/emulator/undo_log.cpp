#include "emulator/undo_log.h"

#include <bit>
#include <cstring>

#include "emulator/memory.h"
#include "emulator/module.h"

namespace warpscope::emulator {

void UndoLog::save(const Access& access) {
    if (access.kind == MemoryAccess::load) return;
    // Lanes in a row are one entry.
    uint64_t begin = 0, end = 0;
    for (uint32_t lanes = access.mask; lanes; lanes &= lanes - 1) {
        const uint64_t address = access.address(unsigned(std::countr_zero(lanes)));
        if (address >= begin && address + access.bytes <= end) continue;
        if (!is_valid(address, access.bytes)) continue;
        if (address != end) {
            save(begin, end - begin);
            begin = address;
        }
        end = address + access.bytes;
    }
    save(begin, end - begin);
}

bool UndoLog::is_valid(uint64_t address, size_t bytes) const {
    if (address + bytes < address) return false;
    if (const Memory::Allocation* found = memory_.find(address))
        return address + bytes <= found->end;
    for (const Module::Range& v : kernel_.module->variables())
        if (address >= uint64_t(v.data) && address + bytes <= uint64_t(v.data) + v.bytes)
            return true;
    return false;
}

void UndoLog::save(uint64_t address, size_t bytes) {
    if (!bytes) return;
    entries_.push_back({address, bytes});
    const auto* p = reinterpret_cast<const std::byte*>(address);
    bytes_.insert(bytes_.end(), p, p + bytes);
}

void UndoLog::roll_back(size_t mark) {
    for (; entries_.size() > mark; entries_.pop_back()) {
        const auto [address, bytes] = entries_.back();
        std::memcpy(reinterpret_cast<void*>(address), bytes_.data() + bytes_.size() - bytes, bytes);
        bytes_.resize(bytes_.size() - bytes);
    }
}

}  // namespace warpscope::emulator
