#include "emulator/happens_before/block_clocks.h"

#include <algorithm>
#include <utility>

#include "emulator/warp/warp.h"

namespace warpscope::emulator {

namespace {

/// True where `into` changes.
bool join(std::vector<std::uint32_t>& into, const std::vector<std::uint32_t>& from) {
    into.resize(std::max(into.size(), from.size()));
    bool changed = false;
    for (std::size_t k = 0; k < from.size(); ++k) {
        changed |= from[k] > into[k];
        into[k] = std::max(into[k], from[k]);
    }
    return changed;
}

}  // namespace

void BlockClocks::begin_launch(const LaunchShape& launch, std::size_t blocks) {
    blocks_ = blocks;
    launch_ = launch;
    has_clusters_ = blocks && launch.cluster.count() > 1;
    clocks_.assign(1, {});
    words_.clear();
    words_of_clusters_.clear();
    others_.clear();
    now_ = {};
}

void BlockClocks::begin_block(std::uint32_t block) {
    block_ = block;
    now_ = {};
}

void BlockClocks::go_on_with(std::uint32_t block) {
    others_[block_] = std::move(now_);
    now_ = std::move(others_[block]);
    block_ = block;
}

BlockClocks::Clock BlockClocks::published() {
    Clock clock = clocks_[now_.seen];
    clock.resize(blocks_);
    clock[block_] = ++now_.time;
    return clock;
}

void BlockClocks::take_over_pending(Scoped& scoped, std::uint32_t first, std::uint32_t lanes) {
    for (auto read = scoped.pending.lower_bound(first);
         read != scoped.pending.end() && read->first < first + lanes_per_warp;) {
        if (!(lanes >> (read->first - first) & 1)) {
            ++read;
            continue;
        }
        take_over(read->second.clock);
        read = scoped.pending.erase(read);
    }
}

void BlockClocks::fence(std::uint32_t warp, std::uint32_t lanes, Scope scope) {
    const bool of_device = scope == Scope::device;
    take_over_pending(now_.cluster, warp * lanes_per_warp, lanes);
    if (of_device) take_over_pending(now_.device, warp * lanes_per_warp, lanes);
    now_.cluster.fenced = published();
    if (of_device) now_.device.fenced = now_.cluster.fenced;
}

void BlockClocks::barrier() {
    for (Scoped* const scoped : {&now_.cluster, &now_.device}) {
        for (const auto& [thread, word] : scoped->pending) take_over(word.clock);
        scoped->pending.clear();
    }
}

void BlockClocks::take_over(const Clock& released) {
    Clock clock = clocks_[now_.seen];
    if (!join(clock, released)) return;
    // Blocks that wait for one barrier of the grid learn the same.
    if (clock != clocks_.back()) clocks_.push_back(std::move(clock));
    now_.seen = std::uint32_t(clocks_.size()) - 1;
}

void BlockClocks::read(Scoped& scoped, const Words& words, std::uint64_t address,
                       std::uint32_t thread, MemoryOrder order) {
    const auto found = words.find(address);
    if (found == words.end() || found->second.clock.empty()) return;
    const Word& word = found->second;
    // A thread that polls reads one version again and again.
    if (acquires(order)) {
        if (std::exchange(scoped.acquired, word.version) != word.version) take_over(word.clock);
    } else {
        Word& read = scoped.pending[thread];
        if (std::exchange(read.version, word.version) != word.version) join(read.clock, word.clock);
    }
}

void BlockClocks::read(std::uint64_t address, std::uint32_t thread, MemoryOrder order,
                       Scope scope) {
    if (const Words* const words = words_of_cluster())
        read(now_.cluster, *words, address, thread, order);
    if (scope == Scope::device) read(now_.device, words_, address, thread, order);
}

void BlockClocks::publish(Words& words, std::uint64_t address, const Clock& clock, bool updates) {
    Word& word = words[address];
    word.version = ++version_;
    if (!updates) word.clock.clear();
    join(word.clock, clock);
}

void BlockClocks::write(std::uint64_t address, std::uint32_t, MemoryOrder order, bool updates,
                        Scope scope) {
    const Clock released = releases(order) ? published() : Clock();
    if (Words* const words = words_of_cluster())
        publish(*words, address, releases(order) ? released : now_.cluster.fenced, updates);
    // A write of cluster scope replaces what the word published for the device, and publishes
    // nothing to the device.
    publish(words_, address,
            scope != Scope::device ? Clock()
            : releases(order)      ? released
                                   : now_.device.fenced,
            updates);
    if (updates) return;
    for (auto& [cluster, words] : words_of_clusters_)
        if (&words != words_of_cluster()) words.erase(address);
}

void BlockClocks::overwrite(std::uint64_t address, std::uint32_t bytes) {
    for (std::uint64_t byte = 0; byte < bytes; ++byte) {
        words_.erase(address + byte);
        for (auto& [cluster, words] : words_of_clusters_) words.erase(address + byte);
    }
}

}  // namespace warpscope::emulator
