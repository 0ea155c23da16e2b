#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <mutex>

namespace warpscope::emulator {

/// How far the newest launch of a device is. The device writes it, and any thread may read it.
class LaunchProgress {
  public:
    struct Reading {
        std::uint64_t launch = 0;  ///< number of the newest launch, from 1 on; 0: none so far
        std::uint64_t done = 0;    ///< number of its blocks that have ended
        std::uint64_t blocks = 0;  ///< number of its blocks; 0 on a GPU, which does not report them
        bool compiling = false;    ///< a GPU's driver compiles the kernels of a later launch
        bool operator==(const Reading&) const = default;
    };

    /// A launch begins.
    void begin(std::uint64_t blocks) {
        const std::lock_guard lock(mutex_);
        newest_ = {newest_.launch + 1, 0, blocks};
        done_.store(0, std::memory_order_relaxed);
    }
    /// A GPU's driver begins, or has ended, to compile kernels.
    void set_compiling(bool on) {
        const std::lock_guard lock(mutex_);
        newest_.compiling = on;
    }
    /// Blocks of the newest launch have ended.
    void add(std::uint64_t blocks) { done_.fetch_add(blocks, std::memory_order_relaxed); }

    Reading now() const {
        const std::lock_guard lock(mutex_);
        Reading reading = newest_;
        reading.done = std::min(done_.load(std::memory_order_relaxed), reading.blocks);
        return reading;
    }

  private:
    mutable std::mutex mutex_;
    Reading newest_;
    std::atomic<std::uint64_t> done_ = 0;
};

}  // namespace warpscope::emulator
