#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "emulator/program/module.h"

namespace warpscope::emulator {

class Error;
class Warp;
struct Launch;
struct Statistics;

// One warp-wide memory instruction, told before it executes. Addresses are offsets into the
// block's shared memory or global (host) addresses; only the lanes of `mask` are valid.
struct Access {
    uint32_t block = 0;  // linear index
    uint32_t warp = 0;
    uint32_t mask = 0;
    const uint64_t* lane_addresses = nullptr;  // 32; of same_address the mask's first lane's only
    uint32_t bytes = 0;                        // of one lane
    MemoryAccess kind = MemoryAccess::none;
    uint32_t pc = 0;            // index into Kernel::code and Kernel::lines
    bool same_address = false;  // known to be the same for all lanes; else it may be, too
    const Warp* state = nullptr;

    uint64_t address(unsigned lane) const {
        return lane_addresses[same_address ? unsigned(std::countr_zero(mask)) : lane];
    }
    // The `bytes` bytes that a lane is about to store; of stores only.
    void stored(unsigned lane, std::byte* into) const;
    // The block's shared memory as it is before the access.
    const std::byte* shared_memory() const;
};

// Lanes of one warp reach a barrier of the block.
struct BarrierArrival {
    uint32_t block = 0;  // linear index
    uint32_t warp = 0;
    uint32_t mask = 0;
    uint32_t live = 0;  // lanes of the warp that neither have exited nor do so next
    uint32_t pc = 0;
    uint32_t barrier = 0;   // 0..15
    uint32_t expected = 0;  // threads, as the instruction counts them; 0: all that live
    bool waits = true;      // false: bar.arrive
};

struct BarrierRelease {
    uint32_t block = 0;
    uint32_t barrier = 0;
    uint32_t epoch = 0;         // counts the block's released barriers from 0
    uint32_t live_threads = 0;  // of the block: that have not exited
    std::span<const std::byte> shared_memory;
};

// Attached to a launch, sees what its blocks do. A block's events come in the order in which they
// happen. Where the observer can fork, blocks are dealt to host threads, each with a fork of its
// own; else all run on one thread, in the order of their index.
class Observer {
  public:
    virtual ~Observer() = default;
    // An observer for one more host thread of the launch that on_launch has just told of: null
    // where one has to see everything. join() takes over what a fork of this one saw, at the
    // launch's end; the outcome must not depend on which fork saw which block.
    virtual std::unique_ptr<Observer> fork() { return nullptr; }
    virtual void join(Observer& /*fork*/) {}
    // After the joins, where the launch ends with the error of this block: other threads may have
    // run blocks behind it, of which nothing must remain.
    virtual void on_failure(uint32_t /*block*/) {}
    virtual void on_launch(const Kernel&, const Launch&) {}
    virtual bool wants(uint32_t /*block*/) { return true; }  // else the block runs unobserved
    // Asked at a launch: what is not wanted need not be told, and costs nothing.
    virtual bool wants_instructions() const { return true; }
    virtual bool wants_global_accesses() const { return true; }
    virtual void on_block_begin(const Kernel&, uint32_t /*block*/) {}
    virtual void on_block_end(uint32_t /*block*/, const Statistics& /*of it*/) {}
    virtual void on_shared_access(const Access&) {}
    virtual void on_global_access(const Access&) {}
    virtual void on_barrier_arrival(const BarrierArrival&) {}
    virtual void on_barrier_release(const BarrierRelease&) {}
    // bar.warp.sync has brought the lanes of `members` together (some may have exited).
    virtual void on_warp_sync(uint32_t /*block*/, uint32_t /*warp*/, uint32_t /*members*/) {}
    virtual void on_instruction(uint32_t /*block*/, uint32_t /*warp*/, uint32_t /*mask*/,
                                uint32_t /*pc*/) {}
    // The block can't go on; the launch ends with the error of the lowest such block.
    virtual void on_error(uint32_t /*block*/, const Error&) {}
    // The host gives global memory its contents, or takes it away.
    virtual void on_allocate(uint64_t /*address*/, size_t /*bytes*/) {}
    virtual void on_free(uint64_t /*address*/) {}
    virtual void on_host_write(uint64_t /*address*/, size_t /*bytes*/) {}
};

}  // namespace warpscope::emulator
