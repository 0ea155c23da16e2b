#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "emulator/async/async_copies.h"
#include "emulator/happens_before/thread_clocks.h"
#include "emulator/observe/observer.h"
#include "emulator/races/race_report.h"

namespace warpscope::emulator {

/// Finds bulk copies and stores of threads of one block to the same words of shared memory,
/// mbarriers among it, or of global memory, where no fence.proxy.async stands between (PTX ISA 8.7,
/// "Causality Order": a store and a bulk copy belong to different proxies): the copy may not see
/// what was stored, or may be overwritten by it. A fence counts for all stores to its memory that
/// come before it, of whatever thread. Of a block's stores to global memory, the first million of
/// instructions of warps is kept.
class ProxyFences {
  public:
    void begin_launch(const Kernel& kernel, std::uint32_t shared_bytes);
    void begin_block(const ThreadClocks& clocks);
    void begin_epoch(const ThreadClocks& clocks);
    /// The kernel has bulk copies.
    bool is_needed() const { return !stores_.empty(); }

    /// A store or an atomic of shared memory, but not of an mbarrier that has been made.
    void store(const Access& access, const ThreadClocks& clocks);
    void store_global(const Access& access, const ThreadClocks& clocks);
    /// `space`: Space::shared, Space::global, or Space::generic for both.
    void fence(const ThreadClocks& clocks, std::uint32_t warp, std::uint32_t lanes, Space space);
    /// A bulk copy starts.
    void check(const AsyncEvent& event, RaceReport& report) const;

  private:
    /// The newest store to a word.
    struct Store {
        std::uint32_t time = 0, pc = 0, thread = 0;
    };
    /// Stores of neighbouring lanes to bytes that follow each other.
    struct GlobalStore {
        std::uint64_t begin = 0, end = 0;
        Store first;  ///< that of the first lane
        std::uint32_t bytes_of_lane = 0;
    };
    /// The fences for one memory.
    struct Fences {
        ThreadClock until;  ///< by thread: its stores up to this time have one behind them
        bool epoch_has_one = false;
        bool follows(const Store& store) const { return store.time <= until[store.thread]; }
    };
    void fence(Fences& fences, const ThreadClocks& clocks, std::uint32_t warp,
               std::uint32_t lanes) const;
    void check_shared(std::uint64_t first, std::uint64_t bytes, Hazard hazard,
                      const AsyncEvent& event, RaceReport& report) const;
    void check_global(std::uint64_t first, std::uint64_t bytes, Hazard hazard,
                      const AsyncEvent& event, RaceReport& report) const;

    static constexpr std::uint32_t word_bytes = 4;

    std::vector<Store> stores_;                        ///< by word of shared memory
    std::uint64_t first_stored_ = 0, stored_end_ = 0;  ///< words that the block has stored to
    std::vector<GlobalStore> global_stores_;
    std::uint64_t global_begin_ = 0, global_end_ = 0;  ///< bytes that hold all of them
    Fences shared_, global_;
    std::array<std::uint32_t, 32> before_epoch_{};  ///< by warp: its time before the epoch
};

}  // namespace warpscope::emulator
