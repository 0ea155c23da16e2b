#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "emulator/module.h"

namespace warpscope::emulator {

// One warp-wide memory instruction, told before it executes. Addresses are offsets into the
// block's shared memory or global (host) addresses; only the lanes of `mask` are valid.
struct Access {
    uint32_t block = 0;  // linear index
    uint32_t warp = 0;
    uint32_t mask = 0;
    const uint64_t* addresses = nullptr;  // 32
    uint32_t bytes = 0;                   // of one lane
    MemoryAccess kind = MemoryAccess::none;
    uint32_t pc = 0;  // index into Kernel::code and Kernel::lines
};

// Attached to a launch, sees what its blocks do. All of a launch's blocks then run on one thread,
// in the order of their index.
class Observer {
  public:
    virtual ~Observer() = default;
    virtual bool wants(uint32_t /*block*/) { return true; }  // else the block runs unobserved
    virtual void on_block_begin(const Kernel&, uint32_t /*block*/) {}
    virtual void on_block_end(uint32_t /*block*/) {}
    virtual void on_shared_access(const Access&) {}
    virtual void on_global_access(const Access&) {}
    // All threads have arrived; `epoch` counts the block's released barriers from 0.
    virtual void on_barrier_release(uint32_t /*block*/, uint32_t /*epoch*/,
                                    std::span<const std::byte> /*shared_memory*/) {}
    virtual void on_instruction(uint32_t /*block*/, uint32_t /*warp*/, uint32_t /*mask*/,
                                uint32_t /*pc*/) {}
};

}  // namespace warpscope::emulator
