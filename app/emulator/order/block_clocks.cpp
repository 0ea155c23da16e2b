#include "emulator/order/block_clocks.h"

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

void BlockClocks::begin_launch(std::size_t blocks) {
    blocks_ = blocks;
    clocks_.assign(1, {});
    words_.clear();
}

void BlockClocks::begin_block(std::uint32_t block) {
    block_ = block;
    time_ = seen_ = 0;
    fenced_.clear();
    pending_.clear();
}

BlockClocks::Clock BlockClocks::published() {
    Clock clock = clocks_[seen_];
    clock.resize(blocks_);
    clock[block_] = ++time_;
    return clock;
}

void BlockClocks::fence(std::uint32_t warp, std::uint32_t lanes) {
    const std::uint32_t first = warp * lanes_per_warp;
    for (auto read = pending_.lower_bound(first);
         read != pending_.end() && read->first < first + lanes_per_warp;) {
        if (!(lanes >> (read->first - first) & 1)) {
            ++read;
            continue;
        }
        take_over(read->second);
        read = pending_.erase(read);
    }
    fenced_ = published();
}

void BlockClocks::barrier() {
    for (const auto& [thread, released] : pending_) take_over(released);
    pending_.clear();
}

void BlockClocks::take_over(const Clock& released) {
    Clock clock = clocks_[seen_];
    const std::uint32_t own = clock.empty() ? 0 : clock[block_];
    if (!join(clock, released)) return;
    clock[block_] = own;
    seen_ = std::uint32_t(clocks_.size());
    clocks_.push_back(std::move(clock));
}

void BlockClocks::read(std::uint64_t address, std::uint32_t thread, MemoryOrder order) {
    const auto word = words_.find(address);
    if (word == words_.end() || word->second.empty()) return;
    if (acquires(order))
        take_over(word->second);
    else
        join(pending_[thread], word->second);
}

void BlockClocks::write(std::uint64_t address, std::uint32_t, MemoryOrder order, bool updates) {
    const Clock clock = releases(order) ? published() : fenced_;
    Clock& word = words_[address];
    if (!updates) word.clear();
    join(word, clock);
}

void BlockClocks::overwrite(std::uint64_t address, std::uint32_t bytes) {
    for (std::uint64_t byte = 0; byte < bytes; ++byte) words_.erase(address + byte);
}

}  // namespace warpscope::emulator
