#include "programs/checks/stream_races.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace warpscope::programs {

using emulator::Hazard;
using emulator::MemoryAccess;
using emulator::MemoryOrder;
using Conflict = HostFindings::Conflict;

void StreamRaces::join(Clock& clock, const Clock& other) {
    clock.resize(std::max(clock.size(), other.size()));
    for (std::size_t i = 0; i < other.size(); ++i) clock[i] = std::max(clock[i], other[i]);
}

void StreamRaces::on_add(const void* stream, std::uint64_t id, std::span<const std::uint64_t> after,
                         std::vector<Pages> pages) {
    const std::size_t index = streams_.try_emplace(stream, streams_.size() + 1).first->second;
    newest_.resize(streams_.size() + 1);
    numbers_.resize(newest_.size());
    Work work{.moment = {index, ++numbers_[index]}, .clock = host_};
    const auto comes_after = [&](std::uint64_t other) {
        const auto found = works_.find(other);
        if (found != works_.end()) join(work.clock, found->second.clock);
    };
    comes_after(std::exchange(newest_[index], id));
    for (const std::uint64_t other : after) comes_after(other);
    work.clock.resize(newest_.size());
    work.clock[index] = work.moment.number;
    for (const Pages& each : pages) ++pages_in_use_[each];
    work.pages = std::move(pages);
    works_.emplace(id, std::move(work));
    know({});
}

void StreamRaces::know(const Clock& clock) {
    const std::uint64_t next = host_[host_stream] + 1;
    join(host_, clock);
    join(seen_, clock);
    host_[host_stream] = seen_[host_stream] = next;
}

void StreamRaces::forget(const Work& work) {
    for (const Pages& each : work.pages)
        if (!--pages_in_use_.at(each)) pages_in_use_.erase(each);
}

void StreamRaces::on_wait(std::uint64_t id) {
    const auto waited = works_.find(id);
    if (waited == works_.end()) return;
    know(waited->second.clock);
    for (auto at = works_.begin(); at != works_.end();) {
        const Work& work = at->second;
        const bool has_ended = is_before(work.moment, host_);
        if (has_ended) forget(work);
        at = has_ended ? works_.erase(at) : std::next(at);
    }
}

void StreamRaces::on_wait_for_all() {
    know(numbers_);
    works_.clear();
    pages_in_use_.clear();
    if (accesses_.size() > many_accesses || pages_.size() >= most_pages) reset();
}

void StreamRaces::reset() {
    pages_.clear();
    page_ = nullptr;
    meetings_.clear();
    accesses_.resize(1);
    sets_.resize(1);
    known_sets_ = {{{}, 0}};
}

void StreamRaces::on_seen(std::uint64_t id) {
    const auto seen = works_.find(id);
    if (seen == works_.end()) return;
    join(seen_, seen->second.clock);
    know({});
}

void StreamRaces::on_seen(const std::function<bool(std::uint64_t)>& has_ended) {
    for (const auto& [id, work] : works_)
        if (has_ended(id)) join(seen_, work.clock);
    know({});
}

std::vector<StreamRaces::Pages> StreamRaces::pages_in_use() const {
    std::vector<Pages> pages;
    for (const auto& [each, works] : pages_in_use_) pages.push_back(each);
    return pages;
}

StreamRaces::Moment StreamRaces::now() const {
    const auto found = works_.find(work_);
    return found == works_.end() ? Moment{} : found->second.moment;
}

void StreamRaces::erase_pages(std::uint64_t address, std::size_t bytes) {
    for (std::uint64_t page = address / page_bytes; page * page_bytes < address + bytes; ++page)
        pages_.erase(page);
    page_ = nullptr;
}

void StreamRaces::on_allocate(std::uint64_t address, std::size_t bytes) {
    ranges_.erase(address);
    erase_pages(address, bytes);
}

void StreamRaces::on_allocate_in(std::uint64_t work, std::uint64_t address, std::size_t bytes,
                                 CallSite site) {
    ranges_[address] = {
        bytes,
        {.work = work, .moment = works_.at(work).moment, .site = site, .role = Role::allocation}};
    erase_pages(address, bytes);
}

void StreamRaces::on_free_in(std::uint64_t address, std::size_t bytes, CallSite site) {
    const Accesses free{.work = work_, .moment = now(), .site = site, .role = Role::free};
    const AccessId id = id_of(free);
    for (std::uint64_t at = address / page_bytes; at * page_bytes < address + bytes; ++at)
        if (const auto page = pages_.find(at); page != pages_.end())
            for (std::uint64_t i = 0; i < page->second->size(); ++i)
                record(at * page_bytes + i * word_bytes, (*page->second)[i], id, true);
    erase_pages(address, bytes);
    ranges_[address] = {bytes, free};
}

StreamRaces::Page* StreamRaces::page_of(std::uint64_t address) {
    const std::uint64_t number = address / page_bytes;
    if (page_ && number == page_number_) return page_;
    const auto known = pages_.find(number);
    if (known == pages_.end() && pages_.size() >= most_pages) return nullptr;
    auto& page = known == pages_.end() ? pages_[number] : known->second;
    if (!page) {
        page = std::make_unique<Page>();
        const auto above = ranges_.upper_bound(address);
        if (above != ranges_.begin())
            if (const auto& [begin, range] = *std::prev(above); address < begin + range.bytes)
                page->fill({.writes = id_of(std::vector{id_of(range.first)})});
    }
    page_number_ = number;
    return page_ = page.get();
}

const StreamRaces::Clock* StreamRaces::clock_of(const Accesses& accesses) const {
    if (accesses.is_of_host()) return &seen_;
    const auto found = works_.find(accesses.work);
    return found == works_.end() ? nullptr : &found->second.clock;
}

StreamRaces::AccessId StreamRaces::id_of(const Accesses& accesses) {
    // The newest ones alternate between a few calls and kinds.
    const std::size_t last = accesses_.size() - 1;
    for (std::size_t i = last; i > 0 && i + 8 > last; --i)
        if (accesses_[i] == accesses) return AccessId(i);
    accesses_.push_back(accesses);
    return AccessId(last + 1);
}

StreamRaces::SetId StreamRaces::id_of(const std::vector<AccessId>& set) {
    const auto [found, is_new] = known_sets_.try_emplace(set, SetId(sets_.size()));
    if (is_new) sets_.push_back(set);
    return found->second;
}

const StreamRaces::Meeting& StreamRaces::meet(SetId set, AccessId now) {
    const auto [found, is_new] = meetings_.try_emplace(std::uint64_t(set) << 32 | now);
    Meeting& meeting = found->second;
    if (!is_new) return meeting;
    Accesses b = accesses_[now];
    const Clock* const clock = clock_of(b);
    std::vector<AccessId> joined;
    for (const AccessId id : sets_[set]) {
        const Accesses& a = accesses_[id];
        const bool is_same = a.moment == b.moment && a.site == b.site && a.strength == b.strength &&
                             a.role == b.role;
        const bool is_ordered = !clock || is_before(a.moment, *clock);
        if (is_same)
            b.bytes |= a.bytes;
        else if (!is_ordered || (a.bytes & ~b.bytes) || b.strength > a.strength)
            joined.push_back(id);
        if (a.role == Role::free ? b.role == Role::access : !is_ordered && conflict(a, b))
            meeting.races.push_back(id);
    }
    joined.push_back(b == accesses_[now] ? now : id_of(b));
    meeting.joined = id_of(joined);
    return meeting;
}

bool StreamRaces::conflict(const Accesses& a, const Accesses& b) {
    if (a.role != Role::access && b.role != Role::access) return false;
    // What the host does may be atomic or not.
    const bool has_host = a.is_of_host() || b.is_of_host();
    const Strength needed = has_host ? Strength::volatile_ : Strength::atomic;
    const auto is_strong = [&](const Accesses& accesses) {
        return accesses.is_of_host() || accesses.strength >= needed;
    };
    return (a.bytes & b.bytes) && !(is_strong(a) && is_strong(b));
}

void StreamRaces::add_races(std::uint64_t address, SetId others, bool others_write, AccessId now,
                            bool writes) {
    if (!others) return;
    for (const AccessId id : meet(others, now).races) {
        Accesses first = accesses_[id], second = accesses_[now];
        bool first_writes = others_write, second_writes = writes;
        // The host accesses what it has given to earlier work; and a free races with uses.
        if (first.is_of_host() || second.role == Role::free) {
            std::swap(first, second);
            std::swap(first_writes, second_writes);
        }
        const Conflict conflict =
            first.role == Role::allocation ? Conflict::allocation
            : first.role == Role::free
                ? (is_behind(second.work, first.moment) ? Conflict::freed : Conflict::free)
            : second.is_of_host() ? Conflict::host
                                  : Conflict::streams;
        const Hazard hazard = !first_writes    ? Hazard::write_after_read
                              : !second_writes ? Hazard::read_after_write
                                               : Hazard::write_after_write;
        Race& race = races_[{first.site, second.site, hazard, conflict}];
        if (!race.count++) race.address = address;
    }
}

void StreamRaces::record(std::uint64_t address, Word& word, AccessId now, bool writes) {
    SetId& mine = writes ? word.writes : word.reads;
    const SetId joined = meet(mine, now).joined;
    if (joined == mine) return;
    add_races(address, word.writes, true, now, writes);
    if (writes) add_races(address, word.reads, false, now, true);
    mine = joined;
}

void StreamRaces::record(std::uint64_t address, std::size_t bytes, MemoryAccess kind,
                         Strength strength) {
    const Moment moment = now();
    if (moment.stream == host_stream) return;  // the host has waited for the work
    record(address, bytes, {.work = work_, .moment = moment, .site = site_, .strength = strength},
           kind);
}

void StreamRaces::record(std::uint64_t address, std::size_t bytes, Accesses accesses,
                         MemoryAccess kind) {
    if (!bytes) return;
    const bool writes = kind != MemoryAccess::load;
    const bool acquires = kind != MemoryAccess::store &&
                          (accesses.is_of_host() || accesses.strength != Strength::weak);
    AccessId id = id_of(accesses);
    const std::uint64_t end = address + bytes;
    for (std::uint64_t at = address / word_bytes * word_bytes; at < end; at += word_bytes) {
        Page* const page = page_of(at);
        if (!page) return;
        Word& word = (*page)[at % page_bytes / word_bytes];
        if (acquires) acquire(accesses, word);
        const unsigned first = at < address ? unsigned(address - at) : 0,
                       last = unsigned(std::min(end - at, word_bytes));
        const auto touched = std::uint8_t((1u << last) - (1u << first));
        if (touched != accesses_[id].bytes) {
            accesses.bytes = touched;
            id = id_of(accesses);
        }
        record(at, word, id, writes);
    }
}

void StreamRaces::on_global_access(const emulator::Access& a) {
    const MemoryOrder order = kernel_ ? kernel_->lines[a.pc].order : MemoryOrder::weak;
    const Strength strength = a.kind == MemoryAccess::atomic || order > MemoryOrder::volatile_
                                  ? Strength::atomic
                              : order == MemoryOrder::volatile_ ? Strength::volatile_
                                                                : Strength::weak;
    for (std::uint32_t m = a.mask; m; m &= m - 1) {
        record(a.address(unsigned(std::countr_zero(m))), a.bytes, a.kind, strength);
        if (a.same_address) break;
    }
}

void StreamRaces::acquire(const Accesses& accesses, const Word& word) {
    const std::vector<AccessId> stores = sets_[word.writes];
    for (const AccessId id : stores) {
        const Accesses& store = accesses_[id];
        if (accesses.is_of_host()) {
            if (store.strength == Strength::weak || !works_.contains(store.work)) continue;
            on_wait(store.work);
        } else {
            std::uint64_t& known = works_.at(accesses.work).clock[host_stream];
            if (!store.is_of_host() || store.moment.number <= known) continue;
            known = store.moment.number;
        }
        meetings_.clear();
    }
}

void StreamRaces::on_host_access(std::uint64_t address, std::size_t bytes, bool writes,
                                 CallSite site) {
    has_host_accesses_ = true;
    record(address, bytes, {.moment = {host_stream, host_[host_stream]}, .site = site},
           writes ? MemoryAccess::store : MemoryAccess::load);
}

void StreamRaces::report_to(HostFindings& host) const {
    for (const auto& [pair, race] : races_) {
        const auto& [first, second, hazard, conflict] = pair;
        host.report_conflict(conflict, hazard, first, second, race.address, race.count);
    }
}

}  // namespace warpscope::programs
