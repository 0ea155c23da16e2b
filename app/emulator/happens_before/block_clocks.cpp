#include "emulator/happens_before/block_clocks.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "emulator/happens_before/thread_clocks.h"
#include "emulator/warp/memory.h"
#include "emulator/warp/warp.h"

namespace warpscope::emulator {

bool BlockClocks::Clock::raise(std::size_t entry, std::uint32_t time) {
    if (time <= (*this)[entry]) return false;
    if (times_.empty()) first_ = entry;
    if (entry < first_) times_.insert(times_.begin(), first_ - entry, 0);
    first_ = std::min(first_, entry);
    times_.resize(std::max(times_.size(), entry - first_ + 1));
    times_[entry - first_] = time;
    return true;
}

bool BlockClocks::Clock::join(const Clock& other) {
    if (other.empty()) return false;
    // The outermost times come first, so that those between them have a place.
    bool changed = raise(other.first_, other.times_.front());
    changed |= raise(other.first_ + other.times_.size() - 1, other.times_.back());
    std::uint32_t* own = &times_[other.first_ - first_];
    for (const std::uint32_t time : other.times_) {
        changed |= time > *own;
        *own = std::max(*own, time);
        ++own;
    }
    return changed;
}

void BlockClocks::begin_launch(const LaunchShape& launch, std::uint32_t warps, bool observes) {
    warps_ = warps;
    observes_ = observes;
    launch_ = launch;
    has_clusters_ = launch.cluster.count() > 1;
    clocks_.assign(1, {});
    observations_.assign(1, {});
    words_.clear();
    first_word_ = ~0ull;
    last_word_ = 0;
    others_.clear();
    *now_ = {};
}

void BlockClocks::begin_block(std::uint32_t block) {
    block_ = block;
    *now_ = {};
}

void BlockClocks::go_on_with(std::uint32_t block) {
    std::swap(others_[block_], now_);
    std::swap(others_[block], now_);
    block_ = block;
}

std::size_t BlockClocks::entry_of(std::uint32_t block, std::uint32_t warp) const {
    if (has_clusters_) {
        const ClusterPlace at = ClusterPlace::of(launch_, block);
        block = at.cluster * std::uint32_t(launch_.cluster.count()) + at.rank;
    }
    return std::size_t(block) * warps_ + place_of(warp);
}

BlockClocks::Clock BlockClocks::published(std::uint32_t warp) {
    Clock clock = clocks_[seen(warp)];
    const std::size_t first = entry_of(block_, 0);
    for (std::uint32_t other = 0; other < warps_; ++other)
        clock.raise(first + other, now_->ordered);
    clock.raise(first + place_of(warp), ++now_->time);
    return clock;
}

void BlockClocks::order_warps() {
    if (warps_ == 1) return;
    now_->ordered = ++now_->time;
    now_->seen_by_warp.fill(now_->seen);
}

void BlockClocks::take_over_pending(Scoped& scoped, std::uint32_t first, std::uint32_t lanes) {
    for (auto read = scoped.pending.lower_bound(first);
         read != scoped.pending.end() && read->first < first + lanes_per_warp;) {
        if (!(lanes >> (read->first - first) & 1)) {
            ++read;
            continue;
        }
        take_over(read->second.clock, first / lanes_per_warp);
        read = scoped.pending.erase(read);
    }
}

void BlockClocks::fence(std::uint32_t warp, std::uint32_t lanes, Scope scope) {
    const bool of_device = scope == Scope::device;
    take_over_pending(now_->cluster, warp * lanes_per_warp, lanes);
    if (of_device) take_over_pending(now_->device, warp * lanes_per_warp, lanes);
    order_warps();
    now_->cluster.fenced = published(warp);
    if (of_device) now_->device.fenced = now_->cluster.fenced;
}

void BlockClocks::barrier() {
    for (Scoped* const scoped : {&now_->cluster, &now_->device}) {
        for (const auto& [thread, word] : scoped->pending)
            take_over(word.clock, thread / lanes_per_warp);
        scoped->pending.clear();
    }
    order_warps();
}

void BlockClocks::take_over(const Clock& released, std::uint32_t warp) {
    Clock clock = clocks_[now_->seen];
    if (clock.join(released)) {
        // Blocks that wait for one barrier of the grid learn the same.
        if (clock != clocks_.back()) clocks_.push_back(std::move(clock));
        now_->seen = std::uint32_t(clocks_.size()) - 1;
    }
    now_->seen_by_warp[place_of(warp)] = now_->seen;
}

void BlockClocks::read(Scoped& scoped, const Word& word, std::uint32_t thread, MemoryOrder order) {
    if (word.clock.empty()) return;
    // A thread that polls reads one version again and again.
    if (acquires(order)) {
        const std::uint32_t warp = thread / lanes_per_warp;
        if (std::exchange(scoped.acquired[place_of(warp)], word.version) != word.version)
            take_over(word.clock, warp);
    } else {
        Word& read = scoped.pending[thread];
        if (std::exchange(read.version, word.version) != word.version) read.clock.join(word.clock);
    }
}

void BlockClocks::read(std::uint64_t address, std::uint32_t thread, MemoryOrder order,
                       Scope scope) {
    const auto found = words_.find(address);
    if (found == words_.end()) return;
    const auto& [device, clusters, writes] = found->second;
    if (observes_ && scope == Scope::device) observe(address, writes);
    if (!clusters.empty())
        if (const auto own = clusters.find(cluster()); own != clusters.end())
            read(now_->cluster, own->second, thread, order);
    if (scope == Scope::device) read(now_->device, device, thread, order);
}

void BlockClocks::observe(std::uint64_t address, const Clock& writes) {
    Observed& observed = now_->observed[address];
    if (!observed.writes.join(writes)) return;
    observed.number = 0;
    ++now_->time;
}

// Few accesses ask: those of a word that atomics of the block have observed.
std::uint32_t BlockClocks::observed(std::uint64_t address) {
    const auto found = now_->observed.find(address);
    if (found == now_->observed.end()) return 0;
    Observed& observed = found->second;
    if (observed.number == 0) {
        observed.number = std::uint32_t(observations_.size());
        observations_.push_back(observed.writes);
    }
    return observed.number;
}

void BlockClocks::publish(Word& word, const Clock& clock, bool updates) {
    word.version = ++version_;
    if (!updates) word.clock = {};
    word.clock.join(clock);
}

void BlockClocks::write(std::uint64_t address, std::uint32_t thread, MemoryOrder order,
                        bool updates, Scope scope) {
    const Clock released = releases(order) ? published(thread / lanes_per_warp) : Clock();
    Words& words = words_[address];
    first_word_ = std::min(first_word_, address);
    last_word_ = std::max(last_word_, address);
    if (!updates) words.clusters.clear();
    if (observes_) {
        if (!updates) words.writes = {};
        if (scope == Scope::device)
            words.writes.raise(entry_of(block_, thread / lanes_per_warp), ++now_->time);
    }
    if (has_clusters_)
        publish(words.clusters[cluster()], releases(order) ? released : now_->cluster.fenced,
                updates);
    // A write of cluster scope replaces what the word published for the device, and publishes
    // nothing to the device.
    publish(words.device,
            scope != Scope::device ? Clock()
            : releases(order)      ? released
                                   : now_->device.fenced,
            updates);
}

void BlockClocks::overwrite(std::uint64_t address, std::uint32_t bytes) {
    if (address > last_word_ || address + bytes <= first_word_) return;
    for (std::uint64_t byte = 0; byte < bytes; ++byte) words_.erase(address + byte);
}

namespace {

/// The compare-and-swaps of one instruction, lane by lane: those that fail only read.
class CompareAndSwap {
  public:
    CompareAndSwap(const Access& access, const InstructionInfo& info)
        : access_(access),
          instruction_(access.state->block->kernel->code[access.pc]),
          operand_(info.address_operand) {}

    bool writes(unsigned lane) {
        const std::uint64_t address = access_.address(lane);
        const std::optional<std::uint64_t> old = value_at(address);
        if (old && *old != value(operand_ + 1u, lane)) return false;
        swapped_.emplace_back(address, value(operand_ + 2u, lane));
        return true;
    }

  private:
    std::uint64_t value(unsigned operand, unsigned lane) const {
        const std::uint32_t slot = instruction_.operands[operand];
        const std::uint64_t all = access_.bytes == 8
                                      ? access_.state->get<std::uint64_t>(slot, lane)
                                      : access_.state->get<std::uint32_t>(slot, lane);
        return access_.bytes == 2 ? all & 0xFFFF : all;
    }

    /// Nothing where the emulator would have to look further than it does for an access.
    std::optional<std::uint64_t> value_at(std::uint64_t address) const {
        for (auto s = swapped_.rbegin(); s != swapped_.rend(); ++s)
            if (s->first == address) return s->second;
        const BlockContext& block = *access_.state->block;
        const std::byte* from = nullptr;
        if (address < block.shared_bytes && access_.bytes <= block.shared_bytes - address)
            from = block.shared + address;
        else if (const auto* found = block.memory->find(address))
            if (access_.bytes <= found->end - address)
                from = reinterpret_cast<const std::byte*>(address);
        if (!from) return {};
        std::uint64_t value = 0;
        std::memcpy(&value, from, access_.bytes);
        return value;
    }

    const Access& access_;
    const Instruction& instruction_;
    const unsigned operand_;
    std::vector<std::pair<std::uint64_t, std::uint64_t>> swapped_;  ///< addresses, values
};

}  // namespace

template <typename Clocks>
void synchronise(const Access& a, MemoryOrder order, Clocks& clocks) {
    if (order == MemoryOrder::weak && a.kind != MemoryAccess::store) return;
    const InstructionInfo& info = a.state->block->kernel->lines[a.pc];
    CompareAndSwap swaps(a, info);
    for (std::uint32_t lanes = a.mask; lanes; lanes &= lanes - 1) {
        const auto lane = unsigned(std::countr_zero(lanes));
        const std::uint32_t thread = a.warp * lanes_per_warp + lane;
        const std::uint64_t address = a.address(lane);
        if (order == MemoryOrder::weak) {
            clocks.overwrite(address, a.bytes);
            continue;
        }
        if (a.kind != MemoryAccess::store) clocks.read(address, thread, order);
        if (a.kind == MemoryAccess::load || (info.compares && !swaps.writes(lane))) continue;
        clocks.write(address, thread, order, a.kind == MemoryAccess::atomic);
    }
    if (releases(order)) clocks.advance(a.warp);
}

template void synchronise(const Access&, MemoryOrder, ThreadClocks&);
template void synchronise(const Access&, MemoryOrder, ScopedClocks&);

}  // namespace warpscope::emulator
