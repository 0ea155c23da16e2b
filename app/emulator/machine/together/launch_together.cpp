#include "emulator/machine/together/launch_together.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "emulator/machine/parallel.h"
#include "emulator/machine/together/resident_blocks.h"
#include "emulator/program/error.h"
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

namespace {

FrozenLaunch without_turns(FrozenLaunch launch) {
    launch.settings.schedule = Schedule::run_to_barrier;
    launch.settings.together.clear();
    launch.settings.turns.clear();
    return launch;
}

}  // namespace

files::Sentence why_not_listed(const Kernel& kernel, const BlockGroup& group) {
    const LaunchShape& launch = group.launch;
    if (launch.cooperative && !group.is_whole())
        return files::sentence("all blocks of a cooperative launch run together");
    if (group.units() > BlockGroup::most_units)
        return files::sentence(
            "at most {} warps can take turns in a chosen order, and {} blocks of {} warps have {}",
            BlockGroup::most_units, group.blocks.size(), group.warps(), group.units());
    if (!ClusterLaunch::is_needed(kernel, launch)) return {};
    if (launch.cooperative)
        return files::sentence("the clusters of a cooperative launch can't take listed turns");
    for (const std::uint32_t block : group.blocks)
        if (group.blocks.size() != launch.cluster.count() ||
            ClusterPlace::of(launch, block).cluster !=
                ClusterPlace::of(launch, group.blocks[0]).cluster)
            return files::sentence("the blocks of one cluster run together, and no others");
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
