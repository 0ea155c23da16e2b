#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "emulator/async/async_copies.h"
#include "emulator/happens_before/thread_clocks.h"
#include "emulator/observe/observer.h"
#include "emulator/races/race_report.h"

namespace warpscope::emulator {

/// Finds bulk copies and stores of threads to the same words of shared memory, mbarriers among it,
/// where no fence.proxy.async stands between (PTX ISA 8.7, "Causality Order": a store and a bulk
/// copy belong to different proxies): the copy may not see what was stored, or may be overwritten
/// by it. A fence counts for all stores that come before it, of whatever thread.
class ProxyFences {
  public:
    void begin_launch(const Kernel& kernel, std::uint32_t shared_bytes);
    void begin_block(const ThreadClocks& clocks);
    void begin_epoch(const ThreadClocks& clocks);
    /// The kernel has bulk copies.
    bool is_needed() const { return !stores_.empty(); }

    /// A store or an atomic of shared memory, but not of an mbarrier that has been made.
    void store(const Access& access, const ThreadClocks& clocks);
    void fence(const ThreadClocks& clocks, std::uint32_t warp, std::uint32_t lanes);
    /// A bulk copy starts.
    void check(const AsyncEvent& event, RaceReport& report) const;

  private:
    /// The newest store to a word.
    struct Store {
        std::uint32_t time = 0, pc = 0, thread = 0;
    };
    bool is_fenced(const Store& store) const { return store.time <= fenced_[store.thread]; }
    void check_bytes(std::uint64_t first, std::uint64_t bytes, Hazard hazard,
                     const AsyncEvent& event, RaceReport& report) const;

    static constexpr std::uint32_t word_bytes = 4;

    std::vector<Store> stores_;                        ///< by word of shared memory
    std::uint64_t first_stored_ = 0, stored_end_ = 0;  ///< words that the block has stored to
    ThreadClock fenced_;  ///< by thread: its stores up to this time are
    bool epoch_has_fence_ = false;
    std::array<std::uint32_t, 32> before_epoch_{};  ///< by warp: its time before the epoch
};

}  // namespace warpscope::emulator
