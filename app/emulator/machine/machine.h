#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "emulator/machine/memory.h"
#include "emulator/machine/observer.h"
#include "emulator/machine/printed.h"
#include "emulator/program/module.h"

namespace warpscope::emulator {

struct Dim3 {
    uint32_t x = 1, y = 1, z = 1;
    uint64_t count() const { return uint64_t(x) * y * z; }
};

struct Launch {
    Dim3 grid, block;
    uint32_t dynamic_shared_bytes = 0;
};

// In which order the warps of a block take turns.
//   run_to_barrier  lowest warp first, each until it waits at a barrier or ends
//   reverse         the same, highest warp first
//   random_quantum  a random warp for a random number of instructions, both from the seed. Turns
//                   are short after a barrier, where races live, and then grow: see block.cpp.
//   manual          the first of Options::orders' warps that can run, each until it waits or ends
enum class Schedule : uint8_t { run_to_barrier, reverse, random_quantum, manual };

// What a barrier waits for, as generations of GPUs differ (CUDA C++ Programming Guide,
// "Independent Thread Scheduling"; PTX ISA, "bar, barrier").
//   volta         every thread of the block that has not exited
//   before_volta  one arrival of each warp that has not exited: a warp has one program counter, so
//                 whichever of its lanes come first stand for all, and the others run after them
//   strict        as volta, but lanes that come without the rest of their warp are an error, as
//                 the ISA has it for bar.sync
enum class BarrierPolicy : uint8_t { volta, before_volta, strict };

struct Options {
    Schedule schedule = Schedule::random_quantum;
    BarrierPolicy barriers = BarrierPolicy::volta;
    uint64_t seed = 1;
    uint64_t instruction_budget = std::numeric_limits<uint64_t>::max();  // warp instructions
    // Of the launch as a whole; 0: none. Where it ends the launch, Error says where the block was.
    std::chrono::milliseconds time_limit{0};
    std::stop_token stop{};  // ends the launch with an Error, from another thread
    unsigned threads = 0;    // host threads; 0: one for each core
    // For Schedule::manual: the warps' order in each epoch of a block; the last one stands for all
    // epochs after it.
    std::vector<std::vector<uint32_t>> orders{};
    // Blocks to run, by linear index: for looking at a part of a launch that is too long as a
    // whole.
    uint64_t first_block = 0;
    uint64_t blocks = std::numeric_limits<uint64_t>::max();
};

// A launch before its first instruction. The kernel's module and the memory outlive it.
struct FrozenLaunch {
    const Kernel* kernel = nullptr;
    Launch launch;
    std::vector<std::byte> arguments;  // packed, as Kernel::parameters says
    Options options;
};

struct Statistics {
    uint64_t warp_instructions = 0;
    uint64_t thread_instructions = 0;
    uint64_t barriers = 0;  // released, over all blocks

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

// The emulated GPU: global memory and a fixed number of virtual SMs. Block b runs on virtual SM
// b mod virtual_sms; each runs its blocks in order and keeps the bytes of its shared memory
// between blocks and between launches (zero at first), so a kernel that reads what it did not write
// finds what the block before left. The outcome depends on memory, launch and seed, never on the
// number of host threads.
class Machine {
  public:
    // A prime: what one virtual SM runs in turn then lines up with no power-of-two pattern of the
    // data.
    static constexpr unsigned default_virtual_sms = 29;
    static constexpr uint32_t max_shared_bytes = 227 * 1024;  // of one block

    explicit Machine(unsigned virtual_sms = default_virtual_sms);

    Memory& memory() { return memory_; }
    unsigned virtual_sms() const { return unsigned(shared_.size()); }

    // Runs a launch to its end. `arguments` holds one pointer for each parameter, to its value.
    // Throws Error: bad launch shape, wild access, deadlock, budget, trap. Memory then holds
    // whatever was written until that point.
    Statistics run(const Kernel& kernel, const Launch& launch,
                   std::span<const void* const> arguments, const Options& options = {},
                   Observer* observer = nullptr);
    Statistics run(const FrozenLaunch& launch, Observer* observer = nullptr);

    // The launch that run() would run, with its arguments packed; throws as run() does for a bad
    // shape or number of arguments.
    static FrozenLaunch freeze(const Kernel& kernel, const Launch& launch,
                               std::span<const void* const> arguments, const Options& options);

    // What kernels have printed with printf() since the last call, in the order of launches,
    // blocks and execution; also a launch that ended with an Error. At most PrintLog's lines, whose
    // end then says that there were more.
    std::string take_output();

    // Shared memory of a virtual SM, at least `bytes` of it.
    std::span<std::byte> shared_memory(unsigned sm, size_t bytes);

  private:
    Memory memory_;
    std::vector<std::vector<std::byte>> shared_;  // by virtual SM
    PrintLog output_;
};

}  // namespace warpscope::emulator
