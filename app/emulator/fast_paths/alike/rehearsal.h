#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "emulator/fast_paths/alike/likeness.h"
#include "emulator/machine/block_runner.h"

namespace warpscope::emulator {

/// The accesses to shared memory of a block between two of its barriers. Finds words that one
/// thread writes and another thread reads or writes, unless a barrier of their warp lies between.
class SharedNotes {
  public:
    /// `warp_syncs`: barriers of each warp so far.
    SharedNotes(std::uint32_t bytes, const std::vector<std::uint32_t>& warp_syncs)
        : words_((bytes + 3) / 4), syncs_(warp_syncs) {}

    /// Note an access by a thread of the block. False if it conflicts with an earlier one.
    bool read(std::uint32_t word, std::uint32_t thread);
    bool write(std::uint32_t word, std::uint32_t thread);
    /// A barrier of the block orders what came before it.
    void next_interval() { ++interval_; }

  private:
    /// One thread, several threads of one warp, or threads of several warps.
    struct Threads {
        std::uint32_t interval = 0;
        std::uint32_t thread = 0;
        std::uint32_t warp = 0;
        std::uint32_t sync = 0;  ///< of the newest access
    };
    struct Word {
        Threads writers, readers;
    };
    static constexpr std::uint32_t several = ~0u;

    bool are_ordered(const Threads& before, std::uint32_t thread) const {
        if (before.interval != interval_ || before.thread == thread) return true;
        const std::uint32_t warp = thread / 32;
        return before.warp == warp && before.sync < syncs_[warp];
    }
    void add(Threads& to, std::uint32_t thread) const;

    std::vector<Word> words_;
    const std::vector<std::uint32_t>& syncs_;
    std::uint32_t interval_ = 1;
};

/// The accesses to global memory of a block between two of its barriers.
class GlobalNotes {
  public:
    /// A store that does not straddle multiples of its size. Addresses are taken modulo 2^32.
    void store(std::uint32_t pc, std::uint64_t address, std::uint32_t thread);
    void load() { loads_ = true; }
    /// Ends the interval. Returns an obstacle to the independence of the threads, or null: none is
    /// there if nothing is loaded, and one instruction stores, each thread to other addresses.
    const char* end_interval();

  private:
    struct Store {
        std::uint32_t address, thread;
    };
    std::vector<Store> stores_;
    std::uint32_t pc_ = 0;  ///< of the stores
    bool by_several_ = false;
    bool loads_ = false;
};

/// Finds out, before a launch, whether the order can be seen in which the warps of a block take
/// turns: in memory, in the counts of instructions and barriers, or in a result of any thread.
///
/// It executes block 0 without its loads and stores, and skips all that addresses and branches do
/// not depend on. So the result depends on the kernel, the dimensions and the arguments, never on
/// memory. It stands for every other block:
/// - Known branches and addresses are the same there. Accesses that an unknown branch may skip
///   count only where all threads of block 0 execute them, once: other blocks execute some of them.
/// - Addresses of global memory that are shifted differ, modulo 2^32, by one number. Therefore they
///   are compared modulo 2^32, and only those of one instruction with each other: words that are
///   disjoint in block 0 are then disjoint everywhere, wherever 32-bit arithmetic wraps around.
/// - Between two barriers, each word of shared memory is used by one thread or only read, and so
///   is each word of global memory. So each load finds what it would find in any other order, and
///   each thread does what it would do.
/// - All lanes of a warp come to a barrier together. Lanes that exchange values are the only
///   running split of their warp, by branches with one side alone; so are all barrier policies
///   equal, and no lane can meet another one in a different state.
class Rehearsal : BlockRunner {
  public:
    /// `likeness` has no obstacle, and outlives this object. `most_steps`: instructions of warps
    /// after which the rehearsal gives up.
    Rehearsal(const FrozenLaunch& launch, const BlockLikeness& likeness, const Memory& memory,
              const LaunchSettings& settings, Budget& budget, std::uint64_t most_steps);

    /// Why the order may be seen; empty if it cannot. Throws Error where the block fails.
    std::string run();
    /// After run(): the block has more steps than allowed.
    bool gave_up() const { return steps_ > most_steps_; }
    /// After run() without an obstacle: why a block may see what an earlier block left in shared
    /// memory, or may leave something else there than each other block; empty if none does. Each
    /// block writes one set of words then, each of them before it is read.
    const std::string& leftovers() const { return leftovers_; }

  private:
    void run_turn(Warp& warp);
    const Instruction* step(const Instruction* i, Warp& warp);
    const Instruction* execute(const Instruction* i, Warp& warp);
    const Instruction* go_to_join(const Instruction* i, Warp& warp, std::uint32_t join);
    void arrive_at_barrier(const Warp& warp);
    void end_interval();
    void exchange(const Instruction* i, const Warp& warp);
    void sync_warp(const Instruction* i, const Warp& warp);
    void note_shared(const Instruction* i, const Warp& warp);
    void note_store(const Instruction* i, const Warp& warp);
    void note_word(const Instruction* i, const Warp& warp, unsigned lane);
    void note_leftovers(const Instruction* i, std::uint64_t word);
    void count_uncertain(const Instruction* i, const Warp& warp);
    void check_uncertain() const;
    std::uint32_t pc_of(const Instruction* i) const { return kernel_.index_of(i); }

    const BlockLikeness& likeness_;
    std::vector<std::uint32_t> warp_syncs_;  ///< by warp: barriers of the warp so far
    std::vector<bool> apart_;                ///< by warp: its lanes may be in several splits
    std::vector<std::uint32_t> executions_;  ///< by pc: threads that have executed an access
    SharedNotes shared_;
    GlobalNotes global_;
    std::vector<bool> written_;  ///< by word of shared memory: each block has written it
    std::string leftovers_;
    std::uint32_t barrier_at_ = 0;  ///< pc of the barrier at which warps wait
    bool waits_ = false;
    std::uint64_t steps_ = 0;
    const std::uint64_t most_steps_;
};

}  // namespace warpscope::emulator
