#include "emulator/witness/order_search.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "emulator/machine/together/launch_together.h"
#include "emulator/program/error.h"
#include "emulator/stepper/blocks_together.h"
#include "emulator/witness/block_search.h"
#include "emulator/witness/schedule_file.h"

namespace warpscope::emulator {

OldReadCheck::OldReadCheck(const FrozenLaunch& launch, std::span<const std::uint32_t> blocks,
                           const OldRead& read)
    : kernel_(*launch.kernel), read_(read) {
    checks_.add(in_block_);
    checks_.add(between_blocks_);
    checks_.on_launch(kernel_, launch.launch);
    checks_.on_arguments(launch.arguments);
    for (const std::uint32_t block : blocks) {
        checks_.on_block_turn(block);
        checks_.on_block_begin(kernel_, block);
    }
}

/// Other executions of the load would make findings of their own.
bool OldReadCheck::hears(const Access& access) {
    if (is_over_) return false;
    if (access.pc != read_.pc) return true;
    is_over_ = is_next_ && access.block == read_.block && access.warp == read_.warp;
    return is_over_;
}

bool OldReadCheck::is_allowed() {
    checks_.on_launch_end();
    const std::string store = users_place(kernel_, read_.store.pc),
                      load = users_place(kernel_, read_.pc);
    const auto is_it = [&](const Finding& f) {
        if (f.kind != FindingKind::race || !f.second) return false;
        const std::string first = f.first.where(), second = f.second->where();
        return (first == store && second == load) || (first == load && second == store);
    };
    return std::ranges::any_of(in_block_.findings(), is_it) ||
           std::ranges::any_of(between_blocks_.findings(), is_it);
}

void OldReadCheck::on_shared_access(const Access& access) {
    if (hears(access)) checks_.on_shared_access(access);
}

void OldReadCheck::on_global_access(const Access& access) {
    if (hears(access)) checks_.on_global_access(access);
}

void OldReadCheck::on_cluster_access(const Access& access) {
    if (hears(access)) checks_.on_cluster_access(access);
}

void OldReadCheck::on_barrier_arrival(const BarrierArrival& arrival) {
    if (!is_over_) checks_.on_barrier_arrival(arrival);
}

void OldReadCheck::on_barrier_release(const BarrierRelease& release) {
    if (!is_over_) checks_.on_barrier_release(release);
}

void OldReadCheck::on_warp_sync(std::uint32_t block, std::uint32_t warp, std::uint32_t members) {
    if (!is_over_) checks_.on_warp_sync(block, warp, members);
}

void OldReadCheck::on_async(std::uint32_t block, const AsyncEvent& event) {
    if (!is_over_) checks_.on_async(block, event);
}

void OldReadCheck::on_fence(std::uint32_t block, std::uint32_t warp, std::uint32_t mask,
                            Fence fence) {
    if (!is_over_) checks_.on_fence(block, warp, mask, fence);
}

void OldReadCheck::on_block_turn(std::uint32_t block) {
    if (!is_over_) checks_.on_block_turn(block);
}

namespace {

/// The orders share the budget, and none may fail because of the others.
FrozenLaunch without_budget(FrozenLaunch launch) {
    launch.settings.instruction_budget = std::numeric_limits<std::uint64_t>::max();
    launch.settings.landing = Landing::at_once;  // but for those that an order holds
    launch.settings.held.clear();
    return launch;
}

/// Whether threads may order accesses by words of memory, where a fence can be missing.
bool orders_by_words(const Kernel& kernel) {
    return std::ranges::any_of(kernel.lines, [](const InstructionInfo& info) {
        return info.access == MemoryAccess::atomic || info.order != MemoryOrder::weak;
    });
}

}  // namespace

/// Searches, and then again for the pairs without a witness.
template <typename Run>
OrderSearch::Result OrderSearch::with_old_values(FrozenLaunch launch, const Run& run) const {
    Result result = run(*this, launch);
    OrderSearch rest = *this;
    rest.pairs.clear();
    for (std::size_t k = 0; k < pairs.size(); ++k)
        if (!result.witnesses[k]) rest.pairs.push_back(pairs[k]);
    if (rest.pairs.empty() || stop.stop_requested() || !orders_by_words(*launch.kernel))
        return result;
    launch.settings.keeps_old_values = true;
    Result old = run(rest, launch);
    for (std::size_t k = 0, next = 0; k < pairs.size(); ++k)
        if (!result.witnesses[k]) result.witnesses[k] = std::move(old.witnesses[next++]);
    result.turns += old.turns;
    result.tried_old_values = true;
    result.tried_all_old_values = old.exhausted >= result.exhausted;
    return result;
}

OrderSearch::Result OrderSearch::run(Machine& machine, const FrozenLaunch& launch,
                                     std::uint32_t block) const {
    const FrozenLaunch checked = without_budget(checked_launch(launch, block));
    if (blocks_run_together(checked))
        throw Error(fmt::format(
            "kernel {}: the blocks of a {} wait for each other, so the orders of one block alone "
            "can't be searched",
            launch.kernel->name, checked.launch.cooperative ? "cooperative launch" : "cluster"));
    return with_old_values(checked, [&](const OrderSearch& search, const FrozenLaunch& of) {
        return BlockSearch(search, machine, of, block).run();
    });
}

OrderSearch::Result OrderSearch::run_together(Machine& machine, const FrozenLaunch& launch,
                                              std::vector<std::uint32_t> blocks) const {
    FrozenLaunch checked = without_budget(checked_launch(launch, blocks.back()));
    checked.settings.together = std::move(blocks);
    checked.settings.schedule = Schedule::manual;
    constexpr int times_as_long = 5;  // a launch may have thousands of blocks
    checked.settings.time_limit = times_as_long * time;
    checked.settings.limits_time_of_block = false;
    const BlockGroup group{checked.launch, checked.settings.together};
    if (const files::Sentence why = why_not_listed(*checked.kernel, group); !why.empty())
        throw Error(files::sentence("kernel {}: {}", launch.kernel->name, why));
    try {
        return with_old_values(checked, [&](const OrderSearch& search, const FrozenLaunch& of) {
            return BlockSearch(search, machine, of).run();
        });
    } catch (const TimedOut&) {
        const std::chrono::duration<double> limit = checked.settings.time_limit;
        throw Error(files::sentence(
            "kernel {}: the other {} blocks, which run before those whose orders are searched, do "
            "not end within {} s",
            launch.kernel->name, checked.launch.grid.count() - group.blocks.size(),
            fmt::format("{:.1f}", limit.count())));
    }
}

}  // namespace warpscope::emulator
