#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <mutex>
#include <vector>

#include "emulator/machine/budget.h"
#include "emulator/machine/launch_settings.h"
#include "emulator/warp/memory.h"
#include "emulator/warp/print_log.h"

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

}  // namespace warpscope::emulator
