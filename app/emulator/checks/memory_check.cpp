#include "emulator/checks/memory_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "emulator/machine/warp.h"
#include "emulator/program/error.h"

namespace warpscope::emulator {

void MemoryCheck::on_allocate(uint64_t address, size_t bytes) {
    regions_[address] = {address, address + bytes, std::vector<uint8_t>((bytes + 3) / 4)};
    newest_ = nullptr;
}

void MemoryCheck::on_free(uint64_t address) {
    regions_.erase(address);
    newest_ = nullptr;
}

MemoryCheck::Region* MemoryCheck::find(uint64_t address, size_t bytes) {
    if (!newest_ || address < newest_->begin || address >= newest_->end) {
        auto after = regions_.upper_bound(address);
        if (after == regions_.begin()) return nullptr;
        Region& region = std::prev(after)->second;
        if (address >= region.end) return nullptr;
        newest_ = &region;
    }
    return bytes <= newest_->end - address ? newest_ : nullptr;
}

template <typename F>
void MemoryCheck::for_words(Region& region, uint64_t address, size_t bytes, F&& f) {
    uint64_t at = address - region.begin;
    const uint64_t end = at + bytes;
    while (at < end) {
        const uint64_t next = std::min(end, at / 4 * 4 + 4);
        f(region.written[at / 4], uint8_t((1u << (next - at)) - 1) << at % 4);
        at = next;
    }
}

void MemoryCheck::on_host_write(uint64_t address, size_t bytes) {
    if (Region* region = find(address, bytes))
        for_words(*region, address, bytes, [](uint8_t& word, int bits) { word |= uint8_t(bits); });
}

// An atomic both reads and writes.
void MemoryCheck::on_global_access(const Access& a) {
    const bool reads = a.kind != MemoryAccess::store, writes = a.kind != MemoryAccess::load;
    uint64_t before = 0;
    for (uint32_t m = a.mask; m; m &= m - 1) {
        const auto lane = unsigned(std::countr_zero(m));
        const uint64_t address = a.address(lane);
        if (address == before) continue;
        before = address;
        Region* region = find(address, a.bytes);
        if (!region) continue;
        int unwritten = 0;
        for_words(*region, address, a.bytes, [&](uint8_t& word, int bits) {
            unwritten |= bits & ~word;
            if (writes) word |= uint8_t(bits);
        });
        if (reads && unwritten) report(a, lane, *region);
        if (a.same_address) break;
    }
}

void MemoryCheck::report(const Access& a, unsigned lane, const Region& region) {
    log_.add({&places_.kernel(), a.pc, a.pc, FindingKind::uninitialized, Severity::error}, 1, [&] {
        Finding f;
        f.kind = FindingKind::uninitialized;
        f.kernel = places_.kernel().name;
        f.first = places_.party(a.pc, a.warp * lanes_per_warp + lane, a.block);
        f.sentence = fmt::format(
            "Thread {} of block {} reads at {} {} bytes of global memory that nothing has written: "
            "byte {} of an allocation of {}.",
            name_of(f.first.thread), name_of(f.first.block), f.first.where(), a.bytes,
            a.address(lane) - region.begin, region.end - region.begin);
        return f;
    });
}

void MemoryCheck::on_error(uint32_t block, const Error& error) {
    const auto* access = dynamic_cast<const AccessError*>(&error);
    if (!access) return;
    log_.add({&places_.kernel(), access->pc, access->pc, FindingKind::memory, Severity::error}, 1,
             [&] {
                 Finding f;
                 f.kind = FindingKind::memory;
                 f.kernel = places_.kernel().name;
                 f.first = places_.party(access->pc, access->thread, block);
                 f.sentence = error.what();
                 return f;
             });
}

}  // namespace warpscope::emulator
