#pragma once

#include <cstdint>
#include <vector>

#include "emulator/async/async_copies.h"
#include "emulator/observe/observer.h"
#include "emulator/races/race_report.h"

namespace warpscope::emulator {

/// Finds bulk copies that may not see what threads have stored into shared memory, mbarriers among
/// it, because no fence.proxy.async stands between (PTX ISA 8.7, "Causality Order": a store and a
/// bulk copy belong to different proxies). A fence counts for the earlier stores of its thread, and
/// for all stores before the newest barrier of the block.
class ProxyFences {
  public:
    void begin_launch(const Kernel& kernel, std::uint32_t threads, std::uint32_t shared_bytes);
    void begin_block();
    void begin_epoch() { epoch_ = ++time_; }
    /// The kernel has bulk copies.
    bool is_needed() const { return !stores_.empty(); }

    void store(const Access& access);  ///< of shared memory
    void fence(std::uint32_t warp, std::uint32_t lanes);
    /// A bulk copy starts.
    void check(const AsyncEvent& event, RaceReport& report) const;

  private:
    /// The newest store to a word.
    struct Store {
        std::uint32_t time = 0, pc = 0, thread = 0;
    };
    bool is_fenced(const Store& store) const {
        return store.time < fences_[store.thread] || store.time < fenced_epoch_;
    }
    void check_bytes(std::uint64_t first, std::uint64_t bytes, const AsyncEvent& event,
                     RaceReport& report) const;

    static constexpr std::uint32_t word_bytes = 4;

    std::vector<Store> stores_;           ///< by word of shared memory
    std::vector<std::uint32_t> fences_;   ///< by thread: the time of its newest fence
    std::uint32_t time_ = 0, epoch_ = 0;  ///< now, and where the epoch has begun
    std::uint32_t fenced_epoch_ = 0;      ///< the beginning of the epoch of the newest fence
};

}  // namespace warpscope::emulator
