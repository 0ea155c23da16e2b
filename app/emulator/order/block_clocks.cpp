#include "emulator/order/block_clocks.h"

#include <algorithm>
#include <utility>

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
}

BlockClocks::Clock BlockClocks::published() {
    Clock clock = clocks_[seen_];
    clock.resize(blocks_);
    clock[block_] = ++time_;
    return clock;
}

void BlockClocks::fence() {
    fenced_ = published();
}

void BlockClocks::read(std::uint64_t address, std::uint32_t, MemoryOrder) {
    const auto word = words_.find(address);
    if (word == words_.end()) return;
    Clock clock = clocks_[seen_];
    const std::uint32_t own = clock.empty() ? 0 : clock[block_];
    if (!join(clock, word->second)) return;
    clock[block_] = own;
    seen_ = std::uint32_t(clocks_.size());
    clocks_.push_back(std::move(clock));
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
