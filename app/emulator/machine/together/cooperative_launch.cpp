#include "emulator/machine/together/cooperative_launch.h"

#include <fmt/format.h>

#include <vector>

#include "emulator/machine/together/resident_blocks.h"
#include "emulator/program/error.h"
#include "emulator/warp/float_mode.h"

namespace warpscope::emulator {

namespace {

void require_room(const Kernel& kernel, const LaunchShape& launch) {
    constexpr std::uint64_t most_bytes = std::uint64_t(2) << 30;
    const std::uint64_t blocks = launch.grid.count(), threads = launch.block.count();
    const auto fail = [&](const std::string& what) {
        throw Error(
            fmt::format("kernel {}: a cooperative launch of {} blocks of {} threads is too large, "
                        "because its blocks run together: {}",
                        kernel.name, blocks, threads, what));
    };
    if (blocks > most_cooperative_blocks)
        fail(fmt::format("the emulator can do that with {} blocks", most_cooperative_blocks));
    const std::uint64_t bytes = blocks * bytes_of_block(kernel, launch);
    if (bytes > most_bytes)
        fail(
            fmt::format("they need {} MiB of registers, shared and local memory, and the emulator "
                        "has {} MiB",
                        bytes >> 20, most_bytes >> 20));
}

}  // namespace

Statistics run_cooperative(const Kernel& kernel, const FrozenLaunch& launch, Memory& memory,
                           unsigned virtual_sms, Observer* observer, PrintLog& output) {
    require_room(kernel, launch.launch);
    memory.clear_grid_workspace();
    const FloatMode mode(kernel.flush_subnormals);
    Budget budget(launch.settings);
    const auto count = std::uint32_t(launch.launch.grid.count());
    if (launch.settings.progress) launch.settings.progress->begin(count);
    const auto of_cluster = std::uint32_t(launch.launch.cluster.count());
    std::vector<std::uint32_t> blocks;
    for (std::uint32_t k = 0; k < count; ++k)
        blocks.push_back(ClusterPlace{k / of_cluster, k % of_cluster}.block(launch.launch));
    ResidentBlocks places(kernel, launch, memory, budget, count);
    const auto end = [&] {
        LaunchPrints prints;
        places.add_prints_to(prints);
        prints.move_into(output);
        if (observer) observer->on_executions(places.executions());
    };
    try {
        places.run(blocks, virtual_sms,
                   observer && launch.settings.block_order == GridOrder::reverse, observer);
    } catch (...) {
        end();
        if (observer) observer->on_failure(~0u);
        throw;
    }
    end();
    if (observer) observer->on_launch_end();
    return places.statistics();
}

}  // namespace warpscope::emulator
