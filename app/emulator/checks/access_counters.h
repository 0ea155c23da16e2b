#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "emulator/machine/observer.h"

namespace warpscope::emulator {

inline constexpr unsigned banks = 32;         // of shared memory, 4 bytes wide
inline constexpr unsigned sector_bytes = 32;  // of global memory: what one transfer brings

// How one warp-wide shared access meets the banks. The hardware serves 128 bytes at a time: a warp
// of 4-byte (or narrower) lanes at once, of 8-byte lanes in halves, of 16-byte lanes in quarters
// (CUDA C++ Programming Guide, "Shared Memory"); two of those at once where every lane accesses
// what its neighbour i^1 does, or every lane what i^2 does. Lanes that access the same word share
// it. So an H200 counts them (ncu, l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld): see the test.
struct BankUse {
    unsigned wavefronts = 0;  // passes that the access takes
    unsigned least = 0;       // without conflicts
    unsigned degree = 0;      // most distinct words in one bank within one pass; 1: no conflict
    std::array<uint8_t, 32> group{};  // by lane: those of one number are served at once
};
BankUse bank_use(std::span<const uint64_t, 32> addresses, uint32_t mask, uint32_t bytes);

// Sectors that a warp-wide global access touches.
unsigned sectors(std::span<const uint64_t, 32> addresses, uint32_t mask, uint32_t bytes);

// The accesses of one kind.
struct MemoryCounts {
    uint64_t requests = 0;          // warp instructions
    uint64_t bytes = 0;             // that the lanes asked for
    uint64_t sectors = 0;           // global memory: that were moved
    uint64_t wavefronts = 0;        // shared memory: passes
    uint64_t least_wavefronts = 0;  // passes without conflicts
    unsigned degree = 0;            // shared memory: the worst access's

    MemoryCounts& operator+=(const MemoryCounts& other);
};

// What the launches of one kernel did.
struct KernelCounters {
    std::string kernel;
    uint64_t launches = 0, blocks = 0;
    uint64_t warp_instructions = 0, thread_instructions = 0;
    uint64_t barriers = 0;  // released, over all blocks
    MemoryCounts global_loads, global_stores, global_atomics;
    MemoryCounts shared_loads, shared_stores, shared_atomics;

    KernelCounters& operator+=(const KernelCounters& other);  // of the same kernel
};

// Counts what launches do; the figures don't depend on the schedule where the kernels' don't.
class AccessCounters : public Observer {
  public:
    // One for each kernel, in the order of their first launches. A launch that fails counts for
    // nothing.
    const std::vector<KernelCounters>& kernels() const { return kernels_; }

    std::unique_ptr<Observer> fork() override;
    void join(Observer& fork) override;
    void on_failure(uint32_t) override { kernels_[current_] = before_; }
    void on_launch(const Kernel& kernel, const Launch& launch) override;
    bool wants_instructions() const override { return false; }
    void on_block_end(uint32_t block, const Statistics& statistics) override;
    void on_shared_access(const Access& access) override;
    void on_global_access(const Access& access) override;

  private:
    // What an instruction's newest access of all lanes cost. Another one whose lanes lie in the
    // same way to each other, from a base that has the same place in a sector, costs the same.
    struct Known {
        std::array<uint64_t, 32> offsets{};  // from lane 0's address
        uint64_t base = ~0ull;               // lane 0's place, and which memory it is in
        unsigned wavefronts = 0, least = 0, degree = 0, sectors = 0;
    };
    void count_shared(const Access& access);
    static bool recall(Known& known, const Access& access, bool shared);

    std::vector<KernelCounters> kernels_;
    size_t current_ = 0;        // index of the running kernel
    KernelCounters before_;     // its counters before the launch
    std::vector<Known> known_;  // by pc, of the running kernel
    // What inner loops do most is counted for itself until the block ends: shared loads of one
    // address by all lanes, by pc, and the pcs that have any.
    std::vector<uint64_t> broadcasts_;
    std::vector<uint32_t> broadcasting_;
    const Kernel* kernel_ = nullptr;
};

}  // namespace warpscope::emulator
