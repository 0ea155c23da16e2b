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

void BlockClocks::begin_launch(std::size_t blocks) {
    blocks_ = blocks;
    clocks_.assign(1, {});
    words_.clear();
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

void BlockClocks::fence(std::uint32_t warp, std::uint32_t lanes) {
    const std::uint32_t first = warp * lanes_per_warp;
    for (auto read = now_.pending.lower_bound(first);
         read != now_.pending.end() && read->first < first + lanes_per_warp;) {
        if (!(lanes >> (read->first - first) & 1)) {
            ++read;
            continue;
        }
        take_over(read->second.clock);
        read = now_.pending.erase(read);
    }
    now_.fenced = published();
}

void BlockClocks::barrier() {
    for (const auto& [thread, word] : now_.pending) take_over(word.clock);
    now_.pending.clear();
}

void BlockClocks::take_over(const Clock& released) {
    Clock clock = clocks_[now_.seen];
    if (!join(clock, released)) return;
    // Blocks that wait for one barrier of the grid learn the same.
    if (clock != clocks_.back()) clocks_.push_back(std::move(clock));
    now_.seen = std::uint32_t(clocks_.size()) - 1;
}

void BlockClocks::read(std::uint64_t address, std::uint32_t thread, MemoryOrder order) {
    const auto found = words_.find(address);
    if (found == words_.end() || found->second.clock.empty()) return;
    const Word& word = found->second;
    // A thread that polls reads one version again and again.
    if (acquires(order)) {
        if (std::exchange(now_.acquired, word.version) != word.version) take_over(word.clock);
    } else {
        Word& read = now_.pending[thread];
        if (std::exchange(read.version, word.version) != word.version) join(read.clock, word.clock);
    }
}

void BlockClocks::write(std::uint64_t address, std::uint32_t, MemoryOrder order, bool updates) {
    const Clock clock = releases(order) ? published() : now_.fenced;
    Word& word = words_[address];
    word.version = ++version_;
    if (!updates) word.clock.clear();
    join(word.clock, clock);
}

void BlockClocks::overwrite(std::uint64_t address, std::uint32_t bytes) {
    for (std::uint64_t byte = 0; byte < bytes; ++byte) words_.erase(address + byte);
}

}  // namespace warpscope::emulator
