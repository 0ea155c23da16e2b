#include "emulator/witness/order_search.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "emulator/machine/together/launch_together.h"
#include "emulator/program/error.h"
#include "emulator/stepper/blocks_together.h"
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
    if (const std::string why = why_not_listed(*checked.kernel, group); !why.empty())
        throw Error(fmt::format("kernel {}: {}", launch.kernel->name, why));
    try {
        return with_old_values(checked, [&](const OrderSearch& search, const FrozenLaunch& of) {
            return BlockSearch(search, machine, of).run();
        });
    } catch (const TimedOut&) {
        throw Error(fmt::format(
            "kernel {}: the other {} blocks, which run before those whose orders are searched, do "
            "not end within {:.1f} s",
            launch.kernel->name, checked.launch.grid.count() - group.blocks.size(),
            std::chrono::duration<double>(checked.settings.time_limit).count()));
    }
}

}  // namespace warpscope::emulator
