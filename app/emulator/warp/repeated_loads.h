#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "emulator/warp/warp.h"

namespace warpscope::emulator {

/// Loads of one address in shared memory by all lanes: the most frequent accesses of inner loops.
/// Where the observer of a block needs only their number (Observer::on_broadcasts()), compiled
/// code counts those that repeat an earlier one, and does not report them.
///
/// Compiled code writes down the others, and goes on: the observer is told of many at a time,
/// before it is told of anything else.
///
/// A load has a tag, by its address, while it may repeat: the number of the block's newest change
/// (a store, an atomic, the release of a barrier), plus the bytes of the load.
class RepeatedLoads {
  public:
    RepeatedLoads(const Kernel& kernel, BlockContext& block)
        : block_(block),
          tags_(block.shared_bytes / tagged_bytes + 1),
          counts_(kernel.code.size()),
          word_bytes_(tags_.size()),
          word_counts_(tags_.size()) {
        block_.load_tags = tags_.data();
        block_.load_counts = counts_.data();
        block_.load_word_counts = word_counts_.data();
        take_written();
    }
    RepeatedLoads(const RepeatedLoads&) = delete;
    RepeatedLoads& operator=(const RepeatedLoads&) = delete;

    bool any_written() const { return block_.next_load != written_.data(); }
    /// The loads that compiled code has written down, in their order; it begins anew.
    std::span<BroadcastLoad> take_written() {
        block_.loads_end = written_.data() + written_.size();
        return {written_.data(), std::exchange(block_.next_load, written_.data())};
    }
    /// The next load is to be told at once, as nothing is written.
    void tell_next_at_once() { block_.loads_end = written_.data() + 1; }
    /// Later loads like this one need only be counted.
    void remember(std::uint64_t address, std::uint32_t bytes, std::uint32_t pc) {
        if (bytes < tagged_bytes) return;
        const std::uint64_t word = address / tagged_bytes;
        if (word_bytes_[word] == 0) words_.push_back(word);
        // The count of a word is of loads of one width until the end of the block.
        if (word_bytes_[word] != 0 && word_bytes_[word] != bytes) return;
        word_bytes_[word] = std::uint8_t(bytes);
        tags_[word] = block_.load_change + bytes;
        if (std::find(loads_.begin(), loads_.end(), pc) == loads_.end()) loads_.push_back(pc);
    }
    /// Shared memory, or the order of its accesses, changes.
    void forget() {
        constexpr std::uint32_t most_bytes = 16;  // of a load, which a tag adds
        block_.load_change += 2 * most_bytes;
        if (block_.load_change < 1u << 31) return;
        std::fill(tags_.begin(), tags_.end(), 0);
        block_.load_change = 0;
    }
    /// Calls by_pc(pc, number) and by_address(address, bytes, number) for the loads that have been
    /// counted, and begins anew.
    template <typename ByPc, typename ByAddress>
    void take(ByPc&& by_pc, ByAddress&& by_address) {
        for (const std::uint32_t pc : loads_)
            if (const std::uint64_t n = std::exchange(counts_[pc], 0)) by_pc(pc, n);
        for (const std::uint64_t word : words_) {
            const std::uint32_t bytes = std::exchange(word_bytes_[word], 0);
            if (const std::uint64_t n = std::exchange(word_counts_[word], 0))
                by_address(word * tagged_bytes, bytes, n);
        }
        words_.clear();
        forget();
    }

  private:
    static constexpr std::uint32_t tagged_bytes = 4;
    static constexpr std::size_t told_together = 256;

    BlockContext& block_;
    std::vector<std::uint32_t> tags_;    ///< by word of shared memory
    std::vector<std::uint64_t> counts_;  ///< by pc
    std::vector<std::uint32_t> loads_;   ///< pcs that may have counts
    // By word of shared memory, for loads that begin there
    std::vector<std::uint8_t> word_bytes_;  ///< width of the loads; 0: there were none
    std::vector<std::uint64_t> word_counts_;
    std::vector<std::uint64_t> words_;  ///< those with a width
    std::array<BroadcastLoad, told_together> written_;
};

}  // namespace warpscope::emulator
