#include "programs/checks/stream_races.h"

#include <algorithm>
#include <bit>

namespace warpscope::programs {

using emulator::Hazard;
using emulator::MemoryAccess;

void StreamRaces::join(Clock& clock, const Clock& other) {
    clock.resize(std::max(clock.size(), other.size()));
    for (std::size_t i = 0; i < other.size(); ++i) clock[i] = std::max(clock[i], other[i]);
}

void StreamRaces::on_add(const void* stream, std::uint64_t id,
                         std::span<const std::uint64_t> after) {
    const std::size_t index = streams_.try_emplace(stream, streams_.size()).first->second;
    newest_.resize(streams_.size());
    numbers_.resize(streams_.size());
    Work work{.stream = index, .number = ++numbers_[index], .clock = host_};
    const auto comes_after = [&](std::uint64_t other) {
        const auto found = works_.find(other);
        if (found != works_.end()) join(work.clock, found->second.clock);
    };
    comes_after(std::exchange(newest_[index], id));
    for (const std::uint64_t other : after) comes_after(other);
    work.clock.resize(streams_.size());
    work.clock[index] = work.number;
    works_.emplace(id, std::move(work));
}

void StreamRaces::on_wait(std::uint64_t id) {
    const auto found = works_.find(id);
    if (found == works_.end()) return;
    join(host_, found->second.clock);
    std::erase_if(works_, [&](const auto& entry) {
        const Work& work = entry.second;
        return work.stream < host_.size() && work.number <= host_[work.stream];
    });
}

void StreamRaces::on_wait_for_all() {
    join(host_, numbers_);
    works_.clear();
}

void StreamRaces::on_allocate(std::uint64_t address, std::size_t bytes) {
    for (std::uint64_t page = address / page_bytes; page * page_bytes < address + bytes; ++page)
        pages_.erase(page);
    page_ = nullptr;
}

StreamRaces::Page* StreamRaces::page_of(std::uint64_t address) {
    const std::uint64_t number = address / page_bytes;
    if (page_ && number == page_number_) return page_;
    const auto known = pages_.find(number);
    if (known == pages_.end() && pages_.size() >= most_pages) return nullptr;
    auto& page = known == pages_.end() ? pages_[number] : known->second;
    if (!page) page = std::make_unique<Page>();
    page_number_ = number;
    return page_ = page.get();
}

std::uint32_t StreamRaces::current(bool is_atomic) {
    Accesses now{.work = work_, .site = site_, .is_atomic = is_atomic};
    if (const auto found = works_.find(work_); found != works_.end()) {
        now.stream = found->second.stream;
        now.number = found->second.number;
    }
    // The newest ones alternate between a few calls and kinds.
    const std::size_t last = accesses_.size() - 1;
    for (std::size_t i = last; i > 0 && i + 4 > last; --i)
        if (accesses_[i] == now) return std::uint32_t(i);
    accesses_.push_back(now);
    return std::uint32_t(last + 1);
}

void StreamRaces::compare(std::uint32_t earlier, std::uint32_t later, Hazard hazard,
                          std::uint64_t address) {
    const Accesses &a = accesses_[earlier], &b = accesses_[later];
    if (!earlier || a.work == b.work || (a.is_atomic && b.is_atomic)) return;
    const auto found = works_.find(b.work);
    if (found == works_.end()) return;
    const Clock& clock = found->second.clock;
    if (a.stream < clock.size() && a.number <= clock[a.stream]) return;
    Race& race = races_[{a.site, b.site, hazard}];
    if (!race.count++) race.address = address;
}

void StreamRaces::on_access(std::uint64_t address, std::size_t bytes, MemoryAccess kind) {
    if (!bytes) return;
    const bool writes = kind != MemoryAccess::load;
    const std::uint32_t now = current(kind == MemoryAccess::atomic);
    for (std::uint64_t at = address / word_bytes; at * word_bytes < address + bytes; ++at) {
        Page* const page = page_of(at * word_bytes);
        if (!page) return;
        Word& word = (*page)[at % (page_bytes / word_bytes)];
        if (!writes && word.read == now) continue;
        compare(word.write, now, writes ? Hazard::write_after_write : Hazard::read_after_write,
                at * word_bytes);
        if (writes) compare(word.read, now, Hazard::write_after_read, at * word_bytes);
        (writes ? word.write : word.read) = now;
    }
}

void StreamRaces::on_global_access(const emulator::Access& a) {
    for (std::uint32_t m = a.mask; m; m &= m - 1) {
        on_access(a.address(unsigned(std::countr_zero(m))), a.bytes, a.kind);
        if (a.same_address) break;
    }
}

void StreamRaces::report_to(HostFindings& host) const {
    for (const auto& [pair, race] : races_) {
        const auto& [first, second, hazard] = pair;
        host.report_race(hazard, first, second, race.address, race.count);
    }
}

}  // namespace warpscope::programs
