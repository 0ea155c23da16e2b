#include "emulator/witness/unit_runner.h"

#include <algorithm>

#include "emulator/machine/together/other_blocks.h"
#include "emulator/machine/warp_scheduler.h"
#include "emulator/stepper/earlier_blocks.h"
#include "emulator/warp/splitmix64.h"

namespace warpscope::emulator {

UnitRunner::UnitRunner(Machine& machine, const FrozenLaunch& launch, std::uint32_t block,
                       Budget& budget, AccessWatch& watch)
    : warps_(warps_of_block(launch.launch)) {
    TurnRunner& runner = *runners_.emplace_back(
        std::make_unique<TurnRunner>(launch, machine.memory(), budget, watch));
    of_sms_ = run_earlier_blocks(machine, launch, block, runner, watch);
    const std::uint32_t sm = block % machine.virtual_sms();
    budget.count_instructions_only();
    runner.start(block, sm, machine.virtual_sms(), of_sms_[sm].data());
    unit_ = warps_ - 1;
}

// The blocks begin as those of ResidentBlocks do.
UnitRunner::UnitRunner(Machine& machine, const FrozenLaunch& launch, Budget& budget,
                       AccessWatch& watch)
    : warps_(warps_of_block(launch.launch)) {
    const Kernel& kernel = *launch.kernel;
    const BlockGroup group{launch.launch, launch.settings.together};
    const unsigned sms = machine.virtual_sms();
    if (!group.is_whole())
        OtherBlocks(kernel, launch, machine.memory(), budget)
            .run(OtherBlocks::When::before, sms, &watch);
    const bool in_cluster = kernel.uses_cluster && launch.launch.cluster.count() > 1;
    watch.join_blocks(group, in_cluster);
    if (launch.launch.cooperative) machine.memory().clear_grid_workspace();
    budget.count_instructions_only();
    std::vector<Cluster::Block> blocks;
    for (std::size_t k = 0; k < group.blocks.size(); ++k) {
        shared_.emplace_back(kernel.shared_bytes + launch.launch.dynamic_shared_bytes);
        std::fill_n(shared_[k].data(), shared_[k].size(), std::byte(0));
        auto runner = std::make_unique<TurnRunner>(launch, machine.memory(), budget, watch);
        blocks.push_back(runner->block_of_cluster());
        copies_.push_back(blocks.back().context->async);
        runners_.push_back(std::move(runner));
    }
    if (kernel.uses_cluster) cluster_.emplace(std::move(blocks));
    for (std::size_t k = 0; k < group.blocks.size(); ++k) {
        const std::uint32_t block = group.blocks[k];
        runners_[k]->start(block, block % sms, sms, shared_[k].data());
    }
    for (AsyncCopies* const copies : copies_)
        if (cluster_) copies->join_cluster(copies_, &waiting_turns_);
    unit_ = std::uint32_t(group.units()) - 1;
}

std::uint32_t UnitRunner::ready() const {
    std::uint32_t all = 0;
    for (std::size_t k = 0; k < runners_.size(); ++k)
        all |= runners_[k]->ready_warps() << k * warps_;
    return all;
}

std::uint32_t UnitRunner::able() const {
    std::uint32_t all = 0;
    for (std::size_t k = 0; k < runners_.size(); ++k)
        all |= runners_[k]->runnable_warps() << k * warps_;
    return all;
}

std::uint32_t UnitRunner::runnable() const {
    if (const std::uint32_t some = ready()) return some;
    const std::uint32_t some = able();
    return some & (0 - some);
}

std::uint32_t UnitRunner::usual_unit() const {
    return WarpScheduler::next_after(unit_, able());
}

void UnitRunner::begin_turn(std::uint32_t unit) {
    unit_ = unit;
    acting().begin_turn(unit % warps_);
}

ListedTurn UnitRunner::turn() const {
    ListedTurn turn = acting().turn();
    turn.warp = unit_;
    return turn;
}

std::vector<HeldCopy> UnitRunner::held() const {
    std::vector<HeldCopy> all;
    for (const auto& runner : runners_)
        all.insert(all.end(), runner->held().begin(), runner->held().end());
    return all;
}

void UnitRunner::finish() {
    for (const auto& runner : runners_) runner->finish();
}

UnitRunner::Position UnitRunner::save() const {
    Position position{.blocks = {}, .barrier = {}, .waiting_turns = waiting_turns_, .unit = unit_};
    for (const auto& runner : runners_) position.blocks.push_back(runner->save());
    if (cluster_) position.barrier = cluster_->barrier();
    return position;
}

void UnitRunner::restore(const Position& position) {
    for (std::size_t k = 0; k < runners_.size(); ++k) runners_[k]->restore(position.blocks[k]);
    if (cluster_) cluster_->restore(position.barrier);
    waiting_turns_ = position.waiting_turns;
    unit_ = position.unit;
}

UnitRunner::Key UnitRunner::key() const {
    Key all{};
    for (const auto& runner : runners_) {
        const Key key = runner->key();
        all.first = splitmix64(all.first ^ key.first);
        all.second = splitmix64(all.second ^ key.second);
    }
    if (!cluster_) return all;
    for (const Cluster::Arrivals& arrivals : cluster_->barrier().arrivals) {
        const std::uint64_t lanes = arrivals.now | std::uint64_t(arrivals.waiting) << 32;
        all.first = splitmix64(all.first ^ lanes);
        all.second = splitmix64(all.second + lanes);
    }
    return all;
}

}  // namespace warpscope::emulator
