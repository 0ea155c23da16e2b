#pragma once

#include <cstdint>
#include <vector>

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

}  // namespace warpscope::emulator
