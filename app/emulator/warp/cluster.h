#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "emulator/warp/warp.h"

namespace warpscope::emulator {

/// The blocks of a cluster, which run together, and the barrier of their threads (PTX ISA
/// 9.7.13.4, "barrier.cluster"). A thread arrives, and may do other work before it waits.
class Cluster {
  public:
    struct Block {
        BlockContext* context = nullptr;
        std::span<const Warp> warps;
    };

    /// `blocks`: by rank. Sets BlockContext::cluster of each.
    explicit Cluster(std::vector<Block> blocks);
    Cluster(const Cluster&) = delete;
    Cluster& operator=(const Cluster&) = delete;

    struct Arrivals {
        std::uint32_t now = 0;      ///< lanes that have arrived in this phase
        std::uint32_t waiting = 0;  ///< lanes that have arrived, in this phase or before, to wait
    };
    struct Barrier {
        std::vector<Arrivals> arrivals;  ///< by block and warp
        std::uint32_t phase = 0;         ///< phases that have ended
    };

    /// Before the blocks of the next cluster begin.
    void begin();
    const Barrier& barrier() const { return barrier_; }
    void restore(const Barrier& barrier) { barrier_ = barrier; }
    std::uint32_t size() const { return std::uint32_t(blocks_.size()); }
    BlockContext& block(std::uint32_t rank) const { return *blocks_[rank].context; }
    std::span<const Warp> warps(std::uint32_t rank) const { return blocks_[rank].warps; }

    std::uint32_t phase() const { return barrier_.phase; }
    /// Lanes arrive at the barrier, which have waited since they arrived last.
    void arrive(const Warp& warp, std::uint32_t lanes);
    /// The lanes of a warp that have arrived and have not waited since.
    std::uint32_t arrived(const Warp& warp) { return arrivals_of(warp).waiting; }
    /// Whether the phase of the barrier has ended at which these lanes have arrived: they have
    /// waited then.
    bool wait(const Warp& warp, std::uint32_t lanes);
    /// Whether it has not, where these lanes have arrived.
    bool must_wait(const Warp& warp, std::uint32_t lanes) const {
        return (barrier_.arrivals[index_of(warp)].now & lanes) && !is_complete();
    }
    /// "64 threads of block (1,0,0)": those that have not arrived, by block; empty if all have.
    std::string missing() const;

  private:
    static std::size_t index_of(const Warp& warp) {
        return std::size_t(warp.block->rank) * 32 + warp.index;
    }
    Arrivals& arrivals_of(const Warp& warp) { return barrier_.arrivals[index_of(warp)]; }
    static std::uint32_t missing_lanes(const Warp& warp, const Arrivals& arrivals) {
        return warp.live() & ~arrivals.now;
    }
    bool is_complete() const;  ///< all threads have arrived that have not exited
    void end_phase_if_complete();

    std::vector<Block> blocks_;
    Barrier barrier_;
};

/// A place in the shared memory of a cluster.
struct SharedPlace {
    BlockContext* block = nullptr;  ///< null: the cluster has no block of this rank
    std::uint64_t offset = 0;
};

/// Bits of an address of shared memory from here on: the rank of its block, plus one; zero: the
/// block of the thread that uses it.
inline constexpr unsigned rank_shift = 24;

/// The rank and the offset that address_in_cluster() has put into an address.
inline std::uint32_t rank_in_cluster(std::uint64_t address) {
    return std::uint32_t(address % window_size >> rank_shift) - 1;
}
inline std::uint32_t offset_in_cluster(std::uint64_t address) {
    return std::uint32_t(address) & ((1u << rank_shift) - 1);
}

/// Where an address, generic or of the window .shared::cluster, is for a thread of `block`.
SharedPlace shared_place(BlockContext& block, std::uint64_t address);
/// The address in that window, for any thread of the cluster, of an address of shared memory in
/// block `rank` (mapa).
inline std::uint64_t address_in_cluster(std::uint64_t address, std::uint32_t rank) {
    const std::uint64_t offset = address & ((std::uint64_t(1) << rank_shift) - 1);
    const std::uint64_t window = address >= shared_window ? shared_window : 0;
    return window | std::uint64_t(rank + 1) << rank_shift | offset;
}

}  // namespace warpscope::emulator
