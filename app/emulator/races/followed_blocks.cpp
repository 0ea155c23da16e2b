#include "emulator/races/followed_blocks.h"

#include <algorithm>
#include <bit>

namespace warpscope::emulator {

namespace {

/// Sorts runs, and joins those that overlap or follow each other.
void join_neighbours(std::vector<FollowedBlocks::Run>& runs) {
    using Run = FollowedBlocks::Run;
    std::sort(runs.begin(), runs.end(),
              [](const Run& a, const Run& b) { return a.begin < b.begin; });
    std::size_t n = 0;
    for (const Run& run : runs) {
        if (n > 0 && run.begin <= runs[n - 1].end)
            runs[n - 1].end = std::max(runs[n - 1].end, run.end);
        else
            runs[n++] = run;
    }
    runs.resize(n);
}

}  // namespace

void FollowedBlocks::clear() {
    models_.clear();
    blocks_.clear();
    moves_.clear();
}

void FollowedBlocks::begin_model(const ModelBlock& model) {
    Model& own = models_.emplace_back();
    model.for_global_accesses([&](const Access& a) {
        own.accesses.push_back(a);
        own.accesses.back().is_over = true;
        Addresses& addresses = own.addresses.emplace_back();
        std::copy_n(a.lane_addresses, lanes_per_warp, addresses.begin());
        if (own.runs.size() <= a.pc) own.runs.resize(a.pc + 1);
        const std::uint32_t lanes = a.same_address ? a.mask & (0 - a.mask) : a.mask;
        std::vector<Run>& runs = own.runs[a.pc];
        for (std::uint32_t m = lanes; m; m &= m - 1) {
            const std::uint64_t begin = a.lane_addresses[std::countr_zero(m)];
            // Neighbouring lanes usually access neighbouring bytes.
            if (!runs.empty() && runs.back().end == begin)
                runs.back().end += a.bytes;
            else
                runs.push_back({begin, begin + a.bytes});
        }
    });
    for (std::vector<Run>& runs : own.runs) join_neighbours(runs);
}

void FollowedBlocks::add(std::uint32_t block, std::span<const Move> moves) {
    moves_.insert(moves_.end(), moves.begin(), moves.end());
    blocks_.push_back({block, std::uint32_t(models_.size() - 1), moves_.size()});
}

void FollowedBlocks::join(FollowedBlocks&& other) {
    const auto models = std::uint32_t(models_.size());
    const std::size_t moves = moves_.size();
    std::move(other.models_.begin(), other.models_.end(), std::back_inserter(models_));
    moves_.insert(moves_.end(), other.moves_.begin(), other.moves_.end());
    for (const Block& block : other.blocks_)
        blocks_.push_back({block.block, block.model + models, block.moves_end + moves});
    other.clear();
}

}  // namespace warpscope::emulator
