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
    stored_.clear();
    bytes_.clear();
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

void FollowedBlocks::keep_values(const Access& a) {
    const std::size_t first = blocks_.empty() ? 0 : blocks_.back().stored_end;
    if (stored_.size() > first && stored_.back().block != a.block) {  // it has left the model
        bytes_.resize(stored_[first].first);
        stored_.resize(first);
    }
    const std::size_t bytes = std::size_t(std::popcount(a.mask)) * a.bytes;
    if (bytes_.size() + bytes + stored_.size() * sizeof(Stored) > most_bytes) return;
    stored_.push_back({a.block, a.pc, a.warp, a.mask, bytes_.size()});
    bytes_.resize(bytes_.size() + bytes);
    std::byte* into = &bytes_[bytes_.size() - bytes];
    for_each_lane(a.mask, [&](unsigned lane) {
        a.stored(lane, into);
        into += a.bytes;
    });
}

Access FollowedBlocks::with_values(const Access& access) {
    std::size_t first = blocks_.empty() ? 0 : blocks_.back().stored_end;
    return with_values(access, first, stored_.size());
}

Access FollowedBlocks::with_values(const Access& access, std::size_t& first, std::size_t end) {
    Access valued = access;
    valued.values = nullptr;
    while (first < end && stored_[first].is_told) ++first;
    const auto is_of_access = [&](const Stored& s) {
        return !s.is_told && s.block == access.block && s.pc == access.pc &&
               s.warp == access.warp && s.lanes == access.mask;
    };
    const auto last = stored_.begin() + std::ptrdiff_t(end);
    const auto stored = std::find_if(stored_.begin() + std::ptrdiff_t(first), last, is_of_access);
    if (stored == last) return valued;
    stored->is_told = true;
    values_.resize(std::size_t(lanes_per_warp) * access.bytes);
    const std::byte* from = &bytes_[stored->first];
    for_each_lane(stored->lanes, [&](unsigned lane) {
        std::copy_n(from, access.bytes, &values_[std::size_t(lane) * access.bytes]);
        from += access.bytes;
    });
    valued.values = values_.data();
    return valued;
}

void FollowedBlocks::add(std::uint32_t block, std::span<const Move> moves) {
    moves_.insert(moves_.end(), moves.begin(), moves.end());
    blocks_.push_back({block, std::uint32_t(models_.size() - 1), moves_.size(), stored_.size()});
}

void FollowedBlocks::join(FollowedBlocks&& other) {
    const auto models = std::uint32_t(models_.size());
    const std::size_t moves = moves_.size(), stored = stored_.size(), bytes = bytes_.size();
    std::move(other.models_.begin(), other.models_.end(), std::back_inserter(models_));
    moves_.insert(moves_.end(), other.moves_.begin(), other.moves_.end());
    bytes_.insert(bytes_.end(), other.bytes_.begin(), other.bytes_.end());
    for (Stored& s : other.stored_) {
        s.first += bytes;
        stored_.push_back(s);
    }
    for (const Block& block : other.blocks_)
        blocks_.push_back({block.block, block.model + models, block.moves_end + moves,
                           block.stored_end + stored});
    other.clear();
}

}  // namespace warpscope::emulator
