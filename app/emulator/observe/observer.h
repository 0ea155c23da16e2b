#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "emulator/program/module.h"
#include "emulator/warp/warp.h"

namespace warpscope::emulator {

class BlockSummaries;
class Error;
struct AsyncEvent;  // emulator/async/async_copies.h

/// What blocks have executed.
struct Statistics {
    std::uint64_t warp_instructions = 0;
    std::uint64_t thread_instructions = 0;
    std::uint64_t barriers = 0;  ///< completed, over all blocks

    Statistics& operator+=(const Statistics& other) {
        warp_instructions += other.warp_instructions;
        thread_instructions += other.thread_instructions;
        barriers += other.barriers;
        return *this;
    }
    Statistics operator-(const Statistics& other) const {
        return {warp_instructions - other.warp_instructions,
                thread_instructions - other.thread_instructions, barriers - other.barriers};
    }
};

/// One load, store or atomic of a warp, before it executes. Addresses are offsets into the block's
/// shared memory, or global (host) addresses. They are valid for the lanes of `mask` only.
struct Access {
    std::uint32_t block = 0;  ///< linear index
    std::uint32_t warp = 0;
    std::uint32_t mask = 0;
    /// One for each of 32 lanes. If same_address is set, only that of the first lane of the mask.
    const std::uint64_t* lane_addresses = nullptr;
    std::uint32_t bytes = 0;  ///< of one lane
    MemoryAccess kind = MemoryAccess::none;
    std::uint32_t pc = 0;       ///< index into Kernel::code and Kernel::lines
    bool same_address = false;  ///< the address is uniform; other accesses may have one address too
    bool checked = false;       ///< it will not fail; other accesses may not fail either
    /// All lanes access bytes that follow each other; other accesses may do so too.
    bool consecutive = false;
    bool consecutive_halves = false;  ///< `consecutive` for the lanes of each half of the warp
    bool is_over = false;  ///< told later than it was executed: stored() is not available
    /// Part of an asynchronous copy, which on_async() tells next: stored() is not available.
    bool asynchronous = false;
    /// Whether the access is to a texture or a surface. A fetch that interpolates is several
    /// accesses, one for each of the elements that a lane reads, and so is one whose lanes fetch
    /// from different textures.
    enum class Image : std::uint8_t { none, first, further };
    Image image = Image::none;
    bool bulk = false;  ///< of a part of a bulk copy, by the thread that has started it
    /// What the 32 lanes store, each `bytes` bytes; null: their registers hold it.
    const std::byte* values = nullptr;
    const Warp* state = nullptr;

    std::uint64_t address(unsigned lane) const {
        return lane_addresses[same_address ? unsigned(std::countr_zero(mask)) : lane];
    }
    /// All lanes access bytes that follow each other: looks where `consecutive` does not say so.
    bool is_consecutive() const {
        if (mask != all_lanes || same_address) return false;
        if (consecutive) return true;
        std::uint64_t differs = 0;
        for (unsigned lane = 1; lane < lanes_per_warp; ++lane)
            differs |= lane_addresses[lane] ^ (lane_addresses[0] + lane * bytes);
        return differs == 0;
    }
    /// Copies the `bytes` bytes that a lane is about to store; for stores only.
    void stored(unsigned lane, std::byte* into) const;
    /// The block's shared memory before the access.
    const std::byte* shared_memory() const;
};

/// Lanes of one warp arrive at a barrier of the block.
struct BarrierArrival {
    std::uint32_t block = 0;  ///< linear index
    std::uint32_t warp = 0;
    std::uint32_t mask = 0;
    std::uint32_t live = 0;  ///< lanes of the warp that have not exited and do not exit next
    std::uint32_t pc = 0;
    std::uint32_t barrier = 0;   ///< 0..15
    std::uint32_t expected = 0;  ///< the instruction's thread count; 0: all threads of the block
    bool waits = true;           ///< false for bar.arrive
};

/// A barrier of the block completes.
struct BarrierRelease {
    std::uint32_t block = 0;
    std::uint32_t barrier = 0;
    std::uint32_t completed_barriers = 0;  ///< of the block, before this one
    std::uint32_t live_threads = 0;        ///< of the block: that have not exited
    std::span<const std::byte> shared_memory;
};

/// An acquire fence, a release fence, or both in one. For threads out of its scope it orders
/// nothing.
struct Fence {
    Scope scope = Scope::device;
    MemoryOrder order = MemoryOrder::acq_rel;
};

inline Fence fence_of(const InstructionInfo& instruction) {
    return {instruction.scope, instruction.order};
}

/// Is told what the blocks of a launch do. The events of one block come in the order in which they
/// happen, and one block after the other, but for cooperative launches. If the observer can fork,
/// blocks run on several host threads, each with its own fork; otherwise all blocks run on one
/// thread, in the order of their index.
class Observer {
  public:
    virtual ~Observer() = default;
    /// An observer for another host thread of the launch that on_launch() has announced; nullptr if
    /// one observer has to see all blocks. At the end of the launch join() adds what a fork has
    /// seen, to the observer or to another fork; several host threads may join different forks. The
    /// result must not depend on which fork sees which block.
    virtual std::unique_ptr<Observer> fork() { return nullptr; }
    virtual void join(Observer& /*fork*/) {}
    /// The launch has failed with an error of this block; called after join(). Other threads may
    /// have run blocks above it: the observer must forget them.
    virtual void on_failure(std::uint32_t /*block*/) {}
    virtual void on_launch(const Kernel&, const LaunchShape&) {}
    /// The packed arguments of that launch (Kernel::parameters); called after on_launch().
    virtual void on_arguments(std::span<const std::byte>) {}
    /// What the blocks that this observer or fork has seen have executed, by pc. It must want all
    /// blocks. Comes before join().
    virtual void on_executions(std::span<const ExecutionCount>) {}
    /// The launch has ended without an error; called after join().
    virtual void on_launch_end() {}
    virtual bool wants(std::uint32_t /*block*/) { return true; }  ///< false: it runs unobserved
    /// Asked when a block begins, or when the observer is added to a list. Events that are not
    /// wanted are not sent and take no time.
    virtual bool wants_instructions(const Kernel&) const { return true; }
    virtual bool wants_global_accesses() const { return true; }
    /// With wants_global_accesses(): loads too. Without, it may be told of some.
    virtual bool wants_global_loads() const { return true; }
    virtual bool wants_shared_accesses() const { return true; }
    virtual bool wants_barriers() const { return true; }
    /// Not null where the observer can take blocks that are alike as one, in the launch that
    /// on_launch() has announced.
    virtual BlockSummaries* summaries() { return nullptr; }
    /// The observers of which this one consists.
    virtual std::vector<Observer*> parts() { return {this}; }
    virtual void on_block_begin(const Kernel&, std::uint32_t /*block*/) {}
    /// Blocks of a cooperative launch take turns. The next events, up to the next call, are of this
    /// block; the first call comes before on_block_begin().
    virtual void on_block_turn(std::uint32_t /*block*/) {}
    /// Between these two, the observer and its forks are told of their blocks of a cooperative
    /// launch at one time, until the blocks take turns again.
    virtual void on_turns_end() {}
    virtual void on_turns_begin() {}
    virtual void on_block_end(std::uint32_t /*block*/, const Statistics& /*of the block*/) {}
    virtual void on_shared_access(const Access&) {}
    virtual void on_global_access(const Access&) {}
    /// In a cluster of several blocks: an access to the shared memory of one of them, the own one
    /// or another. Addresses are of the window .shared::cluster, each with the rank of its block:
    /// see address_in_cluster().
    virtual void on_cluster_access(const Access&) {}
    virtual void on_barrier_arrival(const BarrierArrival&) {}
    virtual void on_barrier_release(const BarrierRelease&) {}
    /// bar.warp.sync has synchronized the lanes of `members`; some of them may have exited.
    virtual void on_warp_sync(std::uint32_t /*block*/, std::uint32_t /*warp*/,
                              std::uint32_t /*members*/) {}
    /// Lanes have executed a warp-wide instruction that does not name them, or read a lane that
    /// takes no part. Comes for every block, one that follows a model too, and may come late: with
    /// the end of the warp's turn.
    virtual void on_member_fault(std::uint32_t /*block*/, const MemberFault&) {}
    /// Asynchronous copies and mbarriers, while it happens. The accesses of a copy come before its
    /// start.
    virtual void on_async(std::uint32_t /*block*/, const AsyncEvent&) {}
    /// The lanes of `mask` execute membar or fence.
    virtual void on_fence(std::uint32_t /*block*/, std::uint32_t /*warp*/, std::uint32_t /*mask*/,
                          Fence) {}
    /// The lanes of `mask` execute the instruction next.
    virtual void on_instruction(std::uint32_t /*block*/, const Warp&, std::uint32_t /*mask*/,
                                std::uint32_t /*pc*/) {}
    /// The block cannot continue. The launch ends with the error of the lowest failing block.
    virtual void on_error(std::uint32_t /*block*/, const Error&) {}
    /// The host allocates, frees or writes global memory.
    virtual void on_allocate(std::uint64_t /*address*/, std::size_t /*bytes*/) {}
    virtual void on_free(std::uint64_t /*address*/) {}
    virtual void on_host_write(std::uint64_t /*address*/, std::size_t /*bytes*/) {}
};

}  // namespace warpscope::emulator
