#include "emulator/witness/order_search.h"

#include <fmt/format.h>

#include <limits>

#include "emulator/machine/together/cluster_launch.h"
#include "emulator/program/error.h"
#include "emulator/stepper/blocks_together.h"
#include "emulator/stepper/earlier_blocks.h"
#include "emulator/witness/block_search.h"

namespace warpscope::emulator {

namespace {

/// The orders share the budget, and none may fail because of the others.
FrozenLaunch without_budget(FrozenLaunch launch) {
    launch.settings.instruction_budget = std::numeric_limits<std::uint64_t>::max();
    launch.settings.landing = Landing::at_once;  // but for those that an order holds
    launch.settings.held.clear();
    return launch;
}

}  // namespace

OrderSearch::Result OrderSearch::run(Machine& machine, const FrozenLaunch& launch,
                                     std::uint32_t block) const {
    const FrozenLaunch checked = without_budget(checked_launch(launch, block));
    if (BlocksTogether::are_needed(checked))
        throw Error(fmt::format(
            "kernel {}: the blocks of a {} wait for each other, so the orders of one block alone "
            "can't be searched",
            launch.kernel->name, checked.launch.cooperative ? "cooperative launch" : "cluster"));
    return BlockSearch(*this, machine, checked, block).run();
}

OrderSearch::Result OrderSearch::run_together(Machine& machine, const FrozenLaunch& launch) const {
    FrozenLaunch checked = without_budget(checked_launch(launch, 0));
    const LaunchShape& shape = checked.launch;
    if (ClusterLaunch::is_needed(*checked.kernel, shape))
        throw Error(fmt::format("kernel {}: the orders of blocks of a cluster can't be searched",
                                launch.kernel->name));
    if (!can_list_units(shape))
        throw Error(fmt::format(
            "kernel {}: the orders of the warps of several blocks can be searched in a launch of "
            "at most {} blocks with {} warps in all; this one has {} blocks with {} warps each",
            launch.kernel->name, most_listed_blocks, most_units, shape.grid.count(),
            warps_of_block(shape)));
    checked.settings.together = true;
    checked.settings.schedule = Schedule::manual;
    return BlockSearch(*this, machine, checked).run();
}

}  // namespace warpscope::emulator
