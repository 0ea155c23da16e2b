#include "emulator/happens_before/block_clocks.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "emulator/happens_before/thread_clocks.h"
#include "emulator/ptx/effects.h"
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

void BlockClocks::begin_launch(const LaunchShape& launch, const Detail& detail) {
    detail_ = detail;
    launch_ = launch;
    has_clusters_ = launch.cluster.count() > 1;
    clocks_.assign(1, {});
    steps_.clear();
    observed_writes_.clear();
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
    return std::size_t(block) * detail_.clocks + (detail_.clocks == 1 ? 0 : warp);
}

bool BlockClocks::comes_before(std::uint32_t block, std::uint32_t warp, unsigned lane,
                               std::uint32_t time, std::uint32_t seen) const {
    const std::uint32_t known = clocks_[seen][entry_of(block, warp)];
    if (known <= time || !detail_.tells_threads_apart) return known > time;
    // Nearly always the newest step has it. Of blocks that release words without end and have no
    // barriers, not all steps are searched.
    constexpr std::uint32_t most_steps = 256;
    if (known - time > most_steps) return true;
    for (std::uint32_t step = known; step > time; --step)
        if (steps_[block][step - 1].is_behind(warp, lane, time)) return true;
    return false;
}

void BlockClocks::take_step(const Step& step) {
    ++now_->time;
    ++changes_;
    if (!detail_.tells_threads_apart) return;
    if (steps_.size() <= block_) steps_.resize(block_ + 1);
    steps_[block_].push_back(step);
}

BlockClocks::Clock BlockClocks::published(std::uint32_t warp, std::uint32_t lanes) {
    Clock clock = clocks_[seen(warp)];
    const std::size_t first = entry_of(block_, 0);
    for (std::uint32_t other = 0; other < detail_.clocks; ++other)
        clock.raise(first + other, now_->ordered);
    take_step({now_->ordered, now_->ordered_in_warp[place_of(warp)], warp, lanes});
    clock.raise(entry_of(block_, warp), now_->time);
    return clock;
}

void BlockClocks::order_warps() {
    if (!tells_warps_apart()) return;
    take_step({.is_barrier = true});
    now_->ordered = now_->time;
    now_->seen_by_warp.fill(now_->seen);
}

void BlockClocks::warp_sync(std::uint32_t warp) {
    if (!detail_.tells_threads_apart) return;
    take_step({});
    now_->ordered_in_warp[warp] = now_->time;
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

void BlockClocks::fence(std::uint32_t warp, std::uint32_t lanes, Fence fence) {
    const bool of_device = fence.scope == Scope::device;
    if (acquires(fence.order)) {
        take_over_pending(now_->cluster, warp * lanes_per_warp, lanes);
        if (of_device) take_over_pending(now_->device, warp * lanes_per_warp, lanes);
    }
    may_order_warps();
    if (!releases(fence.order)) return;
    now_->cluster.fenced = published(warp, lanes);
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

std::uint32_t BlockClocks::joined(std::uint32_t seen, const Clock& released) {
    Clock clock = clocks_[seen];
    if (!clock.join(released)) return seen;
    ++changes_;
    // Blocks that wait for one barrier of the grid learn the same.
    if (clock != clocks_.back()) clocks_.push_back(std::move(clock));
    return std::uint32_t(clocks_.size()) - 1;
}

void BlockClocks::take_over(const Clock& released, std::uint32_t warp) {
    now_->seen = joined(now_->seen, released);
    std::uint32_t& seen = now_->seen_by_warp[place_of(warp)];
    seen = detail_.tells_threads_apart ? joined(seen, released) : now_->seen;
    if (detail_.tells_threads_apart) take_step({.warp = warp, .seen = seen});
    // Another thread of the block has released it: words order its threads.
    if (detail_.tells_threads_apart && released[entry_of(block_, warp)] > now_->ordered)
        order_warps();
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
    const auto& [device, clusters] = found->second;
    if (!clusters.empty())
        if (const auto own = clusters.find(cluster()); own != clusters.end())
            read(now_->cluster, own->second, thread, order);
    if (scope == Scope::device) read(now_->device, device, thread, order);
}

void BlockClocks::observe(std::uint64_t address, std::uint32_t thread, Scope scope) {
    if (detail_.observes && scope == Scope::device &&
        observed_writes_.read(address, reader_of(thread), now_->time))
        ++changes_;
}

std::uint32_t BlockClocks::observed(const Access& a) {
    if (!detail_.observes) return 0;
    const Clock& known = clocks_[seen(a.warp)];
    const std::size_t own = entry_of(block_, a.warp) / detail_.clocks;
    const auto is_before = [&](std::uint32_t reader, std::uint32_t time) {
        return reader / detail_.clocks == own || known[reader] > time;
    };
    std::vector<Observed> all;
    for_each_lane(a.same_address ? a.mask & (0 - a.mask) : a.mask, [&](unsigned lane) {
        const std::uint64_t address = a.address(lane);
        if (address < first_word_ || address > last_word_) return;
        observed_writes_.for_chains(address, is_before, [&](const auto& chain) {
            all.push_back({address, a.bytes, chain});
        });
    });
    if (all.empty()) return 0;
    if (all != observations_.back()) observations_.push_back(std::move(all));
    return std::uint32_t(observations_.size()) - 1;
}

bool BlockClocks::is_observed(std::uint64_t address, std::uint32_t write,
                              std::uint32_t observed) const {
    return std::ranges::any_of(observations_[observed], [&](const Observed& of) {
        return address - of.address < of.bytes && of.chain.holds(write);
    });
}

void BlockClocks::begin_write() {
    if (!detail_.observes) return;
    observed_writes_.begin_write();
    ++changes_;
}

// A thread that has released the word releases it with each further strong write, too (PTX ISA 8,
// "Release and Acquire Patterns").
void BlockClocks::publish(Word& word, const Write& write, const Clock& released,
                          const Scoped& scoped) {
    word.version = ++version_;
    if (!write.updates && word.releaser != write.thread) word.clock = {};
    word.clock.join(write.releases ? released : scoped.fenced);
    if (write.releases)
        word.releaser = write.thread;
    else if (word.releaser != write.thread)
        word.releaser = 0;
}

void BlockClocks::write(std::uint64_t address, std::uint32_t thread, MemoryOrder order,
                        bool updates, Scope scope) {
    const std::uint32_t warp = thread / lanes_per_warp;
    const Write write{(std::uint64_t(block_) << 32 | thread) + 1, releases(order), updates};
    const Clock released =
        write.releases ? published(warp, 1u << thread % lanes_per_warp) : Clock();
    Words& words = words_[address];
    first_word_ = std::min(first_word_, address);
    last_word_ = std::max(last_word_, address);
    if (!updates) words.clusters.clear();
    if (has_clusters_) publish(words.clusters[cluster()], write, released, now_->cluster);
    if (scope == Scope::device) {
        publish(words.device, write, released, now_->device);
        if (detail_.observes) observed_writes_.write(address, updates, reader_of(thread));
        return;
    }
    // It ends what the word has published for the device, and what others could observe of it.
    words.device = {{}, ++version_, 0};
    if (detail_.observes) observed_writes_.overwrite(address, 1, reader_of(thread), now_->time);
}

void BlockClocks::overwrite(std::uint64_t address, std::uint32_t bytes, std::uint32_t thread) {
    if (address > last_word_ || address + bytes <= first_word_) return;
    for (std::uint64_t byte = 0; byte < bytes; ++byte) words_.erase(address + byte);
    if (detail_.observes) observed_writes_.overwrite(address, bytes, reader_of(thread), now_->time);
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
void synchronise(const Access& a, MemoryOrder order, bool observes, Clocks& clocks) {
    const bool is_strong = order != MemoryOrder::weak;
    if (!is_strong && a.kind == MemoryAccess::load) return;
    const Kernel& kernel = *a.state->block->kernel;
    const InstructionInfo& info = kernel.lines[a.pc];
    // A reduction (red) does not acquire.
    const bool reads = a.kind == MemoryAccess::load ||
                       (a.kind == MemoryAccess::atomic && destination_count(kernel.code[a.pc]) > 0);
    CompareAndSwap swaps(a, info);
    if (is_strong && a.kind != MemoryAccess::load) clocks.begin_write();
    for (std::uint32_t lanes = a.mask; lanes; lanes &= lanes - 1) {
        const auto lane = unsigned(std::countr_zero(lanes));
        const std::uint32_t thread = a.warp * lanes_per_warp + lane;
        const std::uint64_t address = a.address(lane);
        if (is_strong && reads) clocks.read(address, thread, order);
        if (is_strong && observes) clocks.observe(address, thread);
        if (a.kind == MemoryAccess::load || (info.compares && !swaps.writes(lane))) continue;
        if (is_strong)
            clocks.write(address, thread, order, a.kind == MemoryAccess::atomic);
        else  // also an atomic whose scope is too small
            clocks.overwrite(address, a.bytes, thread);
    }
    if (releases(order)) clocks.advance(a.warp);
}

template void synchronise(const Access&, MemoryOrder, bool, ThreadClocks&);
template void synchronise(const Access&, MemoryOrder, bool, ScopedClocks&);

}  // namespace warpscope::emulator
