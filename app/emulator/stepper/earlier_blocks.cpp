#include "emulator/stepper/earlier_blocks.h"

#include <fmt/format.h>

#include <algorithm>

#include "emulator/program/error.h"

namespace warpscope::emulator {

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
