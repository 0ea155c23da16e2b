#include "emulator/stepper/undo_log.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "emulator/program/module.h"
#include "emulator/warp/global_range.h"

namespace warpscope::emulator {

void UndoLog::save(const Access& access) {
    if (access.kind == MemoryAccess::load) return;
    // Neighbouring lanes with consecutive addresses become one entry.
    std::uint64_t begin = 0, end = 0;
    for (std::uint32_t lanes = access.mask; lanes; lanes &= lanes - 1) {
        const std::uint64_t address = access.address(unsigned(std::countr_zero(lanes)));
        if (address >= begin && address + access.bytes <= end) continue;
        if (!find_global(memory_, *kernel_.module, address, access.bytes)) continue;
        if (address != end) {
            save(begin, end - begin);
            begin = address;
        }
        end = address + access.bytes;
    }
    save(begin, end - begin);
}

void UndoLog::save(std::uint64_t address, std::size_t bytes) {
    if (!bytes) return;
    const std::size_t at = done_ ? entries_[done_ - 1].at + entries_[done_ - 1].bytes : 0;
    const Entry entry{address, bytes, at};
    if (done_ == entries_.size() || entries_[done_] != entry) {
        forget_undone();
        entries_.push_back(entry);
        bytes_.resize(at + bytes);
    }
    std::memcpy(bytes_.data() + at, reinterpret_cast<const void*>(address), bytes);
    ++done_;
}

void UndoLog::forget_undone() {
    entries_.resize(done_);
    bytes_.resize(done_ ? entries_.back().at + entries_.back().bytes : 0);
}

void UndoLog::swap(const Entry& entry) {
    std::byte* stored = bytes_.data() + entry.at;
    std::swap_ranges(stored, stored + entry.bytes, reinterpret_cast<std::byte*>(entry.address));
}

void UndoLog::move_to(std::size_t mark) {
    mark = std::min(mark, entries_.size());
    while (done_ > mark) swap(entries_[--done_]);
    while (done_ < mark) swap(entries_[done_++]);
}

}  // namespace warpscope::emulator
