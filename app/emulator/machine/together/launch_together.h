#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <mutex>
#include <string>
#include <vector>

#include "emulator/machine/launch_settings.h"
#include "emulator/machine/together/resident_blocks.h"
#include "emulator/warp/memory.h"
#include "emulator/warp/print.h"

namespace warpscope::emulator {

/// A launch whose blocks run together with those of their cluster (ResidentBlocks). Host threads
/// take one cluster after the other. When a cluster fails, those below it still run, so that the
/// launch ends with the error of the lowest failing cluster on any number of threads.
class ClusterLaunch {
  public:
    /// Whether a launch runs so.
    static bool is_needed(const Kernel& kernel, const LaunchShape& launch) {
        return kernel.uses_cluster || launch.cluster.count() > 1;
    }

    /// Only clusters run whose first block is one of settings.blocks.
    ClusterLaunch(const Kernel& kernel, const FrozenLaunch& launch, const Memory& memory,
                  unsigned virtual_sms);

    /// Runs clusters on this host thread until none is left. `observer`: of this thread, or null.
    Statistics run(Observer* observer);
    /// After all threads and their observers: adds what the blocks have printed to `output`, and
    /// throws the Error of the launch.
    void end(Observer* observer, PrintLog& output);

  private:
    bool is_wanted(std::uint32_t first_block) const;
    void fail(std::uint32_t cluster, std::uint32_t last_block);

    const Kernel& kernel_;
    const FrozenLaunch& launch_;
    const Memory& memory_;
    const unsigned virtual_sms_;
    Budget budget_;
    const std::uint32_t clusters_;
    std::atomic<std::uint32_t> next_ = 0, failed_ = ~0u;
    std::mutex mutex_;
    LaunchPrints prints_;
    std::exception_ptr error_;
    std::uint32_t last_block_ = 0;  ///< of the cluster that has failed
};

/// Whether blocks of a launch run together: those of a cluster, all of a cooperative launch, or
/// those of LaunchSettings::together.
inline bool blocks_run_together(const FrozenLaunch& launch) {
    return launch.launch.cooperative || !launch.settings.together.empty() ||
           ClusterLaunch::is_needed(*launch.kernel, launch.launch);
}

inline constexpr std::uint64_t most_cooperative_blocks = 4096;

/// Runs all blocks of a launch together, as cudaLaunchCooperativeKernel() does, so that each may
/// wait for all others; or those whose turns are listed (LaunchSettings::together), with the others
/// before or behind them (OtherBlocks). Blocks that run together take turns on one host thread, in
/// the order of their index: in its turn, a block runs one of its warps. Each block has shared
/// memory of its own, zero at first. `observer`, which may be null, has been told of the launch,
/// and `make_events` is that of the LaunchMethod. Adds what the blocks print to `output`, after an
/// error too. Throws Error, also where the blocks are too many or too large.
Statistics run_cooperative(const Kernel& kernel, const FrozenLaunch& launch, Memory& memory,
                           unsigned virtual_sms, Observer* observer, PrintLog& output,
                           const MakeBlockEvents& make_events);

/// Why blocks can't have listed turns (LaunchSettings::together), in words; empty: they can.
files::Sentence why_not_listed(const Kernel& kernel, const BlockGroup& group);

/// The blocks of a launch beside those of LaunchSettings::together. They run alone, or with their
/// cluster, by their index and each from barrier to barrier. All of them run before the listed
/// blocks. Only where the kernel depends on the order of its blocks, those above the first listed
/// one run behind.
class OtherBlocks {
  public:
    OtherBlocks(const Kernel& kernel, const FrozenLaunch& launch, const Memory& memory,
                Budget& budget);

    enum class When : std::uint8_t { before, behind };
    /// Throws the Error of the first one that fails. `observer` may be null.
    void run(When when, unsigned virtual_sms, Observer* observer);

    Statistics statistics() const { return places_.statistics(); }
    const ResidentBlocks& places() const { return places_; }
    LaunchPrints& prints() { return prints_; }

  private:
    const Kernel& kernel_;
    const FrozenLaunch launch_;  ///< without listed turns
    const BlockGroup listed_;
    ResidentBlocks places_;
    LaunchPrints prints_;
};

}  // namespace warpscope::emulator
