#include "emulator/machine/together/cooperative_launch.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "emulator/machine/observers.h"
#include "emulator/machine/together/other_blocks.h"
#include "emulator/program/error.h"
#include "emulator/warp/float_mode.h"

namespace warpscope::emulator {

namespace {

void require_room(const Kernel& kernel, const LaunchShape& launch, std::uint64_t blocks) {
    constexpr std::uint64_t most_bytes = std::uint64_t(2) << 30;
    const std::uint64_t threads = launch.block.count();
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

/// The blocks that run together: those that are listed, or all of the launch.
std::vector<std::uint32_t> blocks_of(const FrozenLaunch& launch) {
    if (!launch.settings.together.empty()) return launch.settings.together;
    return blocks_of_clusters(launch.launch, 0, std::uint32_t(launch.launch.clusters().count()));
}

}  // namespace

Statistics run_cooperative(const Kernel& kernel, const FrozenLaunch& launch, Memory& memory,
                           unsigned virtual_sms, Observer* observer, PrintLog& output,
                           const MakeBlockEvents& make_events) {
    const std::vector<std::uint32_t> blocks = blocks_of(launch);
    require_room(kernel, launch.launch, blocks.size());
    memory.clear_grid_workspace();
    const FloatMode mode(kernel.flush_subnormals);
    Budget budget(launch.settings);
    if (launch.settings.progress) launch.settings.progress->begin(launch.launch.grid.count());
    ResidentBlocks places(kernel, launch, memory, budget, blocks.size(), make_events);
    std::optional<OtherBlocks> others;
    if (blocks.size() < launch.launch.grid.count()) others.emplace(kernel, launch, memory, budget);
    const auto run_others = [&](OtherBlocks::When when) {
        if (others) others->run(when, virtual_sms, observer);
    };
    const bool runs_ahead = kernel.synchronises_grid && !kernel.is_asynchronous &&
                            !kernel.uses_cluster && launch.settings.together.empty();
    const unsigned threads = launch.settings.threads ? launch.settings.threads : hardware_threads();
    const Observers observers(
        observer, runs_ahead ? unsigned(std::min<std::size_t>(threads, blocks.size())) : 1);
    const bool from_last = observer && launch.settings.block_order == GridOrder::reverse;
    const auto end = [&] {
        LaunchPrints prints;
        if (others) prints = std::move(others->prints());
        places.add_prints_to(prints);
        prints.move_into(output);
        std::vector<ExecutionCount> executions = places.executions();
        if (others) others->places().add_executions_to(executions);
        if (observer) observer->on_executions(executions);
        observers.join();
    };
    try {
        run_others(OtherBlocks::When::before);
        runs_ahead ? places.run_ahead(blocks, virtual_sms, from_last, observers.all())
                   : places.run(blocks, virtual_sms, from_last, observer);
        run_others(OtherBlocks::When::behind);
    } catch (...) {
        end();
        if (observer) observer->on_failure(~0u);
        throw;
    }
    end();
    if (observer) observer->on_launch_end();
    Statistics all = places.statistics();
    if (others) all += others->statistics();
    return all;
}

}  // namespace warpscope::emulator
