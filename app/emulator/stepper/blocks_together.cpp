#include "emulator/stepper/blocks_together.h"

#include <fmt/format.h>

#include <algorithm>

#include "emulator/machine/together/launch_together.h"
#include "emulator/program/error.h"

namespace warpscope::emulator {
namespace {

/// The blocks that run together with those of a cluster.
std::vector<std::uint32_t> blocks_with(const FrozenLaunch& launch, std::uint32_t cluster) {
    const LaunchShape& shape = launch.launch;
    if (!launch.settings.together.empty()) return launch.settings.together;
    if (shape.cooperative)
        return blocks_of_clusters(shape, 0, std::uint32_t(shape.clusters().count()));
    return blocks_of_clusters(shape, cluster);
}

/// Throws Error where the blocks are too large.
std::size_t checked_count(const FrozenLaunch& launch, std::size_t count) {
    const std::uint64_t bytes = count * bytes_of_block(*launch.kernel, launch.launch);
    if (bytes > BlocksTogether::most_bytes)
        throw Error(fmt::format(
            "kernel {}: its {} blocks run together and have {} MiB of registers, shared and local "
            "memory, and the microscope can keep {} MiB: launch it with fewer blocks",
            launch.kernel->name, count, bytes >> 20, BlocksTogether::most_bytes >> 20));
    return count;
}

}  // namespace

BlocksTogether::BlocksTogether(Machine& machine, const FrozenLaunch& launch, std::uint32_t block,
                               Budget& budget, BlockRunner& stepped)
    : machine_(machine),
      launch_(launch),
      budget_(budget),
      at_(ClusterPlace::of(launch.launch, block)),
      together_(blocks_with(launch, at_.cluster)),
      place_(std::size_t(std::ranges::find(together_, block) - together_.begin())),
      blocks_(*launch.kernel, launch, machine.memory(), budget,
              checked_count(launch, together_.size()), {place_, &stepped}) {}

std::uint64_t BlocksTogether::bytes() const {
    return together_.size() * bytes_of_block(*launch_.kernel, launch_.launch);
}

void BlocksTogether::begin(Observer& observer) {
    if (launch_.launch.cooperative) machine_.memory().clear_grid_workspace();
    blocks_.begin(together_, machine_.virtual_sms(), false, &observer);
}

void BlocksTogether::run_earlier(Observer& observer) {
    if (blocks_.is_listed())
        return OtherBlocks(*launch_.kernel, launch_, machine_.memory(), budget_)
            .run(OtherBlocks::When::before, machine_.virtual_sms(), &observer);
    if (launch_.launch.cooperative || !launch_.kernel->order_dependent) return;
    const LaunchShape& shape = launch_.launch;
    ResidentBlocks earlier(*launch_.kernel, launch_, machine_.memory(), budget_,
                           shape.cluster.count());
    for (std::uint32_t cluster = 0; cluster < at_.cluster; ++cluster)
        earlier.run(blocks_of_clusters(shape, cluster), machine_.virtual_sms(), false, &observer);
}

FrozenLaunch checked_launch(const FrozenLaunch& launch, std::uint32_t block) {
    std::vector<const void*> arguments;
    for (const Parameter& p : launch.kernel->parameters)
        arguments.push_back(launch.arguments.data() + p.offset);
    FrozenLaunch frozen =
        Machine::freeze(*launch.kernel, launch.launch, arguments, launch.settings);
    if (block >= launch.launch.grid.count())
        throw Error(fmt::format("kernel {}: there is no block {} in a launch of {} blocks",
                                launch.kernel->name, block, launch.launch.grid.count()));
    return frozen;
}

std::vector<std::vector<std::byte>> run_earlier_blocks(Machine& machine, const FrozenLaunch& launch,
                                                       std::uint32_t block, BlockRunner& runner,
                                                       Observer& observer) {
    const Kernel& kernel = *launch.kernel;
    const std::size_t bytes = kernel.shared_bytes + launch.launch.dynamic_shared_bytes;
    const unsigned sms = machine.virtual_sms();
    std::vector<std::vector<std::byte>> shared;
    for (unsigned k = 0; k < sms; ++k) {
        const auto memory = machine.shared_memory(k, bytes);
        shared.emplace_back(memory.begin(), memory.end());
    }
    if (!bytes && !kernel.order_dependent) return shared;
    const auto first = std::uint32_t(std::min<std::uint64_t>(launch.settings.first_block, block));
    std::vector<std::uint32_t> earlier;
    for (std::uint32_t b = first; b < block; ++b)
        if (kernel.order_dependent || b % sms == block % sms) earlier.push_back(b);
    LaunchProgress* const progress = launch.settings.progress.get();
    if (progress) progress->begin(earlier.size());
    for (const std::uint32_t b : earlier) {
        runner.run(b, b % sms, sms, shared[b % sms].data(), &observer);
        if (progress) progress->add(1);
    }
    return shared;
}

}  // namespace warpscope::emulator
