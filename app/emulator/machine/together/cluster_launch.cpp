#include "emulator/machine/together/cluster_launch.h"

#include <algorithm>

#include "emulator/machine/together/resident_blocks.h"
#include "emulator/warp/float_mode.h"

namespace warpscope::emulator {

ClusterLaunch::ClusterLaunch(const Kernel& kernel, const FrozenLaunch& launch, const Memory& memory,
                             unsigned virtual_sms)
    : kernel_(kernel),
      launch_(launch),
      memory_(memory),
      virtual_sms_(virtual_sms),
      budget_(launch.settings),
      clusters_(std::uint32_t(launch.launch.clusters().count())) {
    if (launch.settings.progress) launch.settings.progress->begin(launch.launch.grid.count());
}

Statistics ClusterLaunch::run(Observer* observer) {
    const FloatMode mode(kernel_.flush_subnormals);
    ResidentBlocks places(kernel_, launch_, memory_, budget_, launch_.launch.cluster.count());
    const bool from_last = observer && launch_.settings.block_order == GridOrder::reverse;
    for (std::uint32_t cluster = next_++; cluster < std::min(clusters_, failed_.load());
         cluster = next_++) {
        const std::vector<std::uint32_t> blocks = blocks_of_clusters(launch_.launch, cluster);
        if (!is_wanted(blocks[0])) continue;
        try {
            places.run(blocks, virtual_sms_, from_last, observer);
        } catch (...) {
            fail(cluster, blocks.back());
        }
        const std::lock_guard lock(mutex_);
        places.add_prints_to(prints_);
    }
    if (observer) observer->on_executions(places.executions());
    return places.statistics();
}

void ClusterLaunch::end(Observer* observer, PrintLog& output) {
    if (error_) prints_.forget_after(last_block_);
    prints_.move_into(output);
    if (!error_) return;
    if (observer) observer->on_failure(last_block_);
    std::rethrow_exception(error_);
}

bool ClusterLaunch::is_wanted(std::uint32_t first_block) const {
    const LaunchSettings& settings = launch_.settings;
    return first_block >= settings.first_block &&
           first_block - settings.first_block < settings.blocks;
}

// Keeps the exception that is being handled, where it is that of the lowest cluster so far.
void ClusterLaunch::fail(std::uint32_t cluster, std::uint32_t last_block) {
    const std::lock_guard lock(mutex_);
    if (cluster >= failed_.load()) return;
    failed_ = cluster;
    last_block_ = last_block;
    error_ = std::current_exception();
}

}  // namespace warpscope::emulator
