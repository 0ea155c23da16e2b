#include "emulator/witness/access_watch.h"

#include <bit>
#include <cstring>
#include <utility>

#include "emulator/warp/cluster.h"
#include "emulator/warp/memory.h"
#include "emulator/warp/splitmix64.h"

namespace warpscope::emulator {

void WrittenWords::add(std::uint64_t address, std::uint32_t bytes) {
    for (std::uint64_t word = address & ~3ull; word < address + bytes; word += 4) {
        if (index_.contains(word)) continue;
        if (!find_global(memory_, module_, word, 4)) return;
        index_[word] = std::uint32_t(words_.size());
        words_.push_back({word, 0});
        words_.back().original = now(words_.size() - 1);
    }
}

std::uint32_t WrittenWords::now(std::size_t k) const {
    std::uint32_t value = 0;
    std::memcpy(&value, reinterpret_cast<const void*>(words_[k].address), sizeof value);
    return value;
}

std::vector<std::uint32_t> WrittenWords::values() const {
    std::vector<std::uint32_t> values(words_.size());
    for (std::size_t k = 0; k < values.size(); ++k) values[k] = now(k);
    return values;
}

void WrittenWords::restore(const std::vector<std::uint32_t>& values) {
    for (std::size_t k = 0; k < words_.size(); ++k) {
        const std::uint32_t value = k < values.size() ? values[k] : words_[k].original;
        std::memcpy(reinterpret_cast<void*>(words_[k].address), &value, sizeof value);
    }
}

void WrittenWords::begin() {
    before_begin_ = std::exchange(words_, {});
    index_.clear();
}

void WrittenWords::restore_all() {
    restore({});
    for (const Word& word : before_begin_)
        std::memcpy(reinterpret_cast<void*>(word.address), &word.original, sizeof word.original);
}

std::uint64_t WrittenWords::key() const {
    std::uint64_t sum = 0;
    for (std::size_t k = 0; k < words_.size(); ++k)
        if (const std::uint32_t value = now(k); value != words_[k].original)
            sum += splitmix64(words_[k].address ^ splitmix64(value));
    return sum;
}

std::uint32_t AccessWatch::rivals(std::uint32_t warp) const {
    const auto found = groups_.find(has_epochs_ ? epoch : 0);
    return found == groups_.end() ? 1u << warp : found->second[warp];
}

void AccessWatch::on_barrier_arrival(const BarrierArrival& arrival) {
    if (instead) return instead->on_barrier_arrival(arrival);
    if (!begun_ || !has_epochs_ || (arrival.barrier == 0 && arrival.expected == 0 && arrival.waits))
        return;
    has_epochs_ = false;
    users_.clear();
    groups_.clear();
    ++learned_;
}

void AccessWatch::unite(std::uint32_t warps) {
    const auto [found, is_new] = groups_.try_emplace(has_epochs_ ? epoch : 0);
    Groups& groups = found->second;
    if (is_new)
        for (std::uint32_t warp = 0; warp < 32; ++warp) groups[warp] = 1u << warp;
    std::uint32_t all = warps;
    for (std::uint32_t left = warps; left; left &= left - 1) all |= groups[std::countr_zero(left)];
    for (std::uint32_t left = all; left; left &= left - 1) groups[std::countr_zero(left)] = all;
}

/// Returns whether another warp contends for the word.
bool AccessWatch::note_word(std::uint32_t unit, bool writes, std::uint64_t word) {
    const std::uint64_t when = has_epochs_ ? epoch : 0;
    Users& users = users_[splitmix64(word ^ when << 48)];
    const std::uint32_t mine = 1u << unit;
    const Users before = users;
    (writes ? users.writers : users.readers) |= mine;
    const std::uint32_t all = users.readers | users.writers;
    const bool contended = users.writers && (all & (all - 1));
    if (contended && (before.readers != users.readers || before.writers != users.writers)) {
        ++learned_;
        unite(all);
    }
    if (writes) return all & ~mine;
    return users.writers & ~mine;
}

void AccessWatch::note(const Access& access, Space space) {
    const bool is_global = space == Space::global;
    const std::uint64_t place = group_ ? group_->place_of(access.block) : 0;
    const std::uint32_t unit = access.warp + (group_ ? std::uint32_t(place) * group_->warps() : 0);
    /// A number for an address in any memory.
    const auto number_of = [&](std::uint64_t address) {
        constexpr std::uint64_t is_shared = 1ull << 63;
        if (is_global) return address;
        if (space == Space::shared) return is_shared | place << 32 | address;
        return is_shared | std::uint64_t(rank_in_cluster(address)) << 32 |
               offset_in_cluster(address);
    };
    std::uint32_t lanes = access.mask;
    if (access.same_address) lanes &= 0 - lanes;
    const bool writes = access.kind != MemoryAccess::load;
    std::uint64_t newest_word = ~0ull;
    for (; lanes; lanes &= lanes - 1) {
        const std::uint64_t where = access.address(unsigned(std::countr_zero(lanes)));
        if (is_global && writes) written.add(where, access.bytes);
        const std::uint64_t address = number_of(where);
        for (std::uint64_t word = address & ~3ull; begun_ && word < address + access.bytes;
             word += 4) {
            if (word == newest_word) continue;
            newest_word = word;
            if (!note_word(unit, writes, word)) continue;
            newest = Newest::contended;
            log.push_back({word, access.pc, group_ ? 0 : epoch, std::uint8_t(unit), writes});
        }
    }
}

}  // namespace warpscope::emulator
