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
    models_.push_back({.accesses = model.accesses(), .runs = {}});
    Model& own = models_.back();
    model.for_global_accesses([&](const Access& a) {
        if (own.runs.size() <= a.pc) own.runs.resize(a.pc + 1);
        std::vector<Run>& runs = own.runs[a.pc];
        const auto add = [&](std::uint64_t begin, std::uint64_t bytes) {
            // Neighbouring lanes usually access neighbouring bytes.
            if (!runs.empty() && runs.back().end == begin)
                runs.back().end += bytes;
            else
                runs.push_back({begin, begin + bytes});
        };
        if (a.consecutive) return add(a.lane_addresses[0], lanes_per_warp * a.bytes);
        const std::uint32_t lanes = a.same_address ? a.mask & (0 - a.mask) : a.mask;
        for (std::uint32_t m = lanes; m; m &= m - 1)
            add(a.lane_addresses[std::countr_zero(m)], a.bytes);
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
