#include "emulator/warp/cluster.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace warpscope::emulator {

Cluster::Cluster(std::vector<Block> blocks) : blocks_(std::move(blocks)) {
    for (std::uint32_t rank = 0; rank < size(); ++rank) {
        block(rank).cluster = this;
        block(rank).rank = rank;
    }
    begin();
}

void Cluster::begin() {
    barrier_ = {std::vector<Arrivals>(blocks_.size() * 32), 0};
}

void Cluster::arrive(const Warp& warp, std::uint32_t lanes) {
    Arrivals& arrivals = arrivals_of(warp);
    arrivals.now |= lanes;
    arrivals.waiting |= lanes;
    end_phase_if_complete();
}

bool Cluster::wait(const Warp& warp, std::uint32_t lanes) {
    end_phase_if_complete();  // other threads may have exited
    Arrivals& arrivals = arrivals_of(warp);
    if (arrivals.now & lanes) return false;
    arrivals.waiting &= ~lanes;
    return true;
}

// A thread that has exited is not waited for.
bool Cluster::is_complete() const {
    bool arrived = false;
    for (const Block& block : blocks_)
        for (const Warp& warp : block.warps) {
            const Arrivals& arrivals = barrier_.arrivals[index_of(warp)];
            if (missing_lanes(warp, arrivals)) return false;
            arrived |= arrivals.now != 0;
        }
    return arrived;
}

void Cluster::end_phase_if_complete() {
    if (!is_complete()) return;
    for (Arrivals& arrivals : barrier_.arrivals) arrivals.now = 0;
    ++barrier_.phase;
}

std::string Cluster::missing() const {
    std::string text;
    for (const Block& block : blocks_) {
        std::uint32_t threads = 0;
        for (const Warp& warp : block.warps)
            threads += lane_count(missing_lanes(warp, barrier_.arrivals[index_of(warp)]));
        if (threads)
            text += fmt::format("{}{} thread{} of block {}", text.empty() ? "" : " and ", threads,
                                threads > 1 ? "s" : "", name_of(block.context->block_index()));
    }
    return text;
}

SharedPlace shared_place(BlockContext& block, std::uint64_t address) {
    if (address >= shared_window) address -= shared_window;
    const std::uint64_t rank = address >> rank_shift;
    const std::uint64_t offset = address & ((std::uint64_t(1) << rank_shift) - 1);
    if (rank == 0) return {&block, offset};
    if (!block.cluster || rank > block.cluster->size()) return {};
    return {&block.cluster->block(std::uint32_t(rank - 1)), offset};
}

}  // namespace warpscope::emulator
