#include "emulator/stepper/blocks_together.h"

#include <fmt/format.h>

#include "emulator/machine/together/cluster_launch.h"
#include "emulator/program/error.h"

namespace warpscope::emulator {

namespace {

bool runs_whole(const FrozenLaunch& launch) {
    return launch.launch.cooperative || launch.settings.together;
}

std::size_t count_of(const FrozenLaunch& launch) {
    return std::size_t(runs_whole(launch) ? launch.launch.grid.count()
                                          : launch.launch.cluster.count());
}

/// Returns their number. Throws Error where they are too large.
std::size_t checked_count(const FrozenLaunch& launch) {
    const std::size_t count = count_of(launch);
    const std::uint64_t bytes = count * bytes_of_block(*launch.kernel, launch.launch);
    if (bytes > BlocksTogether::most_bytes)
        throw Error(fmt::format(
            "kernel {}: its {} blocks run together and have {} MiB of registers, shared and local "
            "memory, and the microscope can keep {} MiB: launch it with fewer blocks",
            launch.kernel->name, count, bytes >> 20, BlocksTogether::most_bytes >> 20));
    return count;
}

}  // namespace

bool BlocksTogether::are_needed(const FrozenLaunch& launch) {
    return runs_whole(launch) || ClusterLaunch::is_needed(*launch.kernel, launch.launch);
}

BlocksTogether::BlocksTogether(Machine& machine, const FrozenLaunch& launch, std::uint32_t block,
                               Budget& budget, BlockRunner& stepped)
    : machine_(machine),
      launch_(launch),
      budget_(budget),
      at_(ClusterPlace::of(launch.launch, block)),
      place_(runs_whole(launch) ? at_.cluster * launch.launch.cluster.count() + at_.rank
                                : at_.rank),
      blocks_(*launch.kernel, launch, machine.memory(), budget, checked_count(launch),
              {place_, &stepped}) {}

std::uint64_t BlocksTogether::bytes() const {
    return count_of(launch_) * bytes_of_block(*launch_.kernel, launch_.launch);
}

// Returns the block of each place: clusters one behind the other, each by rank.
std::vector<std::uint32_t> BlocksTogether::blocks_of(std::uint32_t cluster) const {
    const auto size = std::uint32_t(launch_.launch.cluster.count());
    std::vector<std::uint32_t> blocks;
    for (std::uint32_t k = 0; k < count_of(launch_); ++k)
        blocks.push_back(ClusterPlace{cluster + k / size, k % size}.block(launch_.launch));
    return blocks;
}

void BlocksTogether::begin(Observer& observer) {
    if (launch_.launch.cooperative) machine_.memory().clear_grid_workspace();
    blocks_.begin(blocks_of(runs_whole(launch_) ? 0 : at_.cluster), machine_.virtual_sms(), false,
                  &observer);
}

void BlocksTogether::run_earlier(Observer& observer) {
    if (runs_whole(launch_) || !launch_.kernel->order_dependent) return;
    ResidentBlocks earlier(*launch_.kernel, launch_, machine_.memory(), budget_,
                           launch_.launch.cluster.count());
    for (std::uint32_t cluster = 0; cluster < at_.cluster; ++cluster)
        earlier.run(blocks_of(cluster), machine_.virtual_sms(), false, &observer);
}

}  // namespace warpscope::emulator
