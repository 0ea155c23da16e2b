#include "emulator/witness/unit_runner.h"

#include <algorithm>

#include "emulator/machine/warp_scheduler.h"
#include "emulator/program/error.h"
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
    const auto blocks = std::uint32_t(launch.launch.grid.count());
    watch.join_blocks(warps_);
    machine.memory().clear_grid_workspace();
    budget.count_instructions_only();
    shared_.reserve(blocks);  // the runners keep their addresses
    for (std::uint32_t block = 0; block < blocks; ++block) {
        const std::size_t bytes = launch.kernel->shared_bytes + launch.launch.dynamic_shared_bytes;
        AlignedBytes& shared = shared_.emplace_back(bytes);
        std::fill_n(shared.data(), bytes, std::byte(0));
        auto runner = std::make_unique<TurnRunner>(launch, machine.memory(), budget, watch);
        runner->start(block, block % machine.virtual_sms(), machine.virtual_sms(), shared.data());
        runners_.push_back(std::move(runner));
    }
    unit_ = blocks * warps_ - 1;
}

std::uint32_t UnitRunner::runnable() const {
    std::uint32_t all = 0;
    for (std::size_t k = 0; k < runners_.size(); ++k) all |= runners_[k]->runnable() << k * warps_;
    return all;
}

std::uint32_t UnitRunner::usual_unit() const {
    std::uint32_t able = 0;
    for (std::size_t k = 0; k < runners_.size(); ++k)
        able |= runners_[k]->runnable_warps() << k * warps_;
    return WarpScheduler::next_after(unit_, able);
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
    Position position{.blocks = {}, .unit = unit_};
    for (const auto& runner : runners_) position.blocks.push_back(runner->save());
    return position;
}

void UnitRunner::restore(const Position& position) {
    for (std::size_t k = 0; k < runners_.size(); ++k) runners_[k]->restore(position.blocks[k]);
    unit_ = position.unit;
}

UnitRunner::Key UnitRunner::key() const {
    Key all{};
    for (const auto& runner : runners_) {
        const Key key = runner->key();
        all.first = splitmix64(all.first ^ key.first);
        all.second = splitmix64(all.second ^ key.second);
    }
    return all;
}

}  // namespace warpscope::emulator
