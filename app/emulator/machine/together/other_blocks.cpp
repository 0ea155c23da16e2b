#include "emulator/machine/together/other_blocks.h"

#include <fmt/format.h>

#include <utility>

#include "emulator/machine/together/cluster_launch.h"

namespace warpscope::emulator {

namespace {

FrozenLaunch without_turns(FrozenLaunch launch) {
    launch.settings.schedule = Schedule::run_to_barrier;
    launch.settings.together.clear();
    launch.settings.turns.clear();
    return launch;
}

}  // namespace

std::string why_not_listed(const Kernel& kernel, const BlockGroup& group) {
    const LaunchShape& launch = group.launch;
    if (launch.cooperative && !group.is_whole())
        return "all blocks of a cooperative launch run together";
    if (group.units() > BlockGroup::most_units)
        return fmt::format(
            "at most {} warps can take turns in a chosen order, and {} blocks of {} warps have {}",
            BlockGroup::most_units, group.blocks.size(), group.warps(), group.units());
    if (!ClusterLaunch::is_needed(kernel, launch)) return {};
    if (launch.cooperative) return "the clusters of a cooperative launch can't take listed turns";
    for (const std::uint32_t block : group.blocks)
        if (group.blocks.size() != launch.cluster.count() ||
            ClusterPlace::of(launch, block).cluster !=
                ClusterPlace::of(launch, group.blocks[0]).cluster)
            return "the blocks of one cluster run together, and no others";
    return {};
}

OtherBlocks::OtherBlocks(const Kernel& kernel, const FrozenLaunch& launch, const Memory& memory,
                         Budget& budget)
    : kernel_(kernel),
      launch_(without_turns(launch)),
      listed_{launch.launch, launch.settings.together},
      places_(kernel, launch_, memory, budget, launch.launch.cluster.count()) {}

void OtherBlocks::run(When when, unsigned virtual_sms, Observer* observer) {
    const LaunchShape& shape = launch_.launch;
    if (listed_.is_whole()) return;
    for (std::uint32_t cluster = 0; cluster < shape.clusters().count(); ++cluster) {
        const std::vector<std::uint32_t> blocks = blocks_of_clusters(shape, cluster);
        const bool is_listed = listed_.place_of(blocks[0]) < listed_.blocks.size();
        const bool runs_behind = kernel_.order_dependent && blocks[0] > listed_.blocks[0];
        if (is_listed || runs_behind != (when == When::behind)) continue;
        places_.run(blocks, virtual_sms, false, observer);
        places_.add_prints_to(prints_);
    }
}

}  // namespace warpscope::emulator
