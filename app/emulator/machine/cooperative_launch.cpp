#include "emulator/machine/cooperative_launch.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

#include "emulator/machine/block_runner.h"
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
    const std::uint64_t warps = (threads + lanes_per_warp - 1) / lanes_per_warp;
    const std::uint64_t of_block = warps * kernel.register_bytes + threads * kernel.local_bytes +
                                   kernel.shared_bytes + launch.dynamic_shared_bytes;
    if (blocks * of_block > most_bytes)
        fail(
            fmt::format("they need {} MiB of registers, shared and local memory, and the emulator "
                        "has {} MiB",
                        blocks * of_block >> 20, most_bytes >> 20));
}

/// A block that runs beside the others.
struct ResidentBlock {
    ResidentBlock(const Kernel& kernel, const FrozenLaunch& launch, const Memory& memory,
                  Budget& budget)
        : shared(kernel.shared_bytes + launch.launch.dynamic_shared_bytes),
          runner(kernel, launch.launch, memory, launch.arguments, launch.settings, budget) {
        if (shared.size()) std::memset(shared.data(), 0, shared.size());
    }

    const AlignedBytes shared;
    BlockRunner runner;
};

class ResidentBlocks {
  public:
    ResidentBlocks(const Kernel& kernel, const FrozenLaunch& launch, const Memory& memory)
        : budget_(launch.settings), progress_(launch.settings.progress.get()) {
        for (std::uint64_t b = 0; b < launch.launch.grid.count(); ++b)
            blocks_.push_back(std::make_unique<ResidentBlock>(kernel, launch, memory, budget_));
        if (progress_) progress_->begin(blocks_.size());
    }

    /// Runs all blocks to their end. Throws the Error of the first block that fails.
    void run(unsigned virtual_sms, bool from_last, Observer* observer) {
        std::vector<std::uint32_t> running;
        for (std::uint32_t b = 0; b < blocks_.size(); ++b) {
            running.push_back(from_last ? std::uint32_t(blocks_.size()) - 1 - b : b);
            ResidentBlock& block = *blocks_[b];
            block.runner.begin_turns(b, b % virtual_sms, virtual_sms, block.shared.data(),
                                     observer);
        }
        while (!running.empty())
            std::erase_if(running, [this](std::uint32_t block) { return !takes_turn(block); });
    }

    Statistics statistics() const {
        Statistics all;
        for (const auto& block : blocks_) all += block->runner.statistics();
        return all;
    }
    std::vector<ExecutionCount> executions() const {
        std::vector<ExecutionCount> all;
        for (const auto& block : blocks_) {
            const std::span<const ExecutionCount> of_block = block->runner.executions();
            all.resize(std::max(all.size(), of_block.size()));
            for (std::size_t pc = 0; pc < of_block.size(); ++pc) {
                all[pc].warps += of_block[pc].warps;
                all[pc].idle_lanes += of_block[pc].idle_lanes;
                all[pc].separations += of_block[pc].separations;
            }
        }
        return all;
    }
    void move_prints_into(PrintLog& output) const {
        LaunchPrints prints;
        for (std::uint32_t b = 0; b < blocks_.size(); ++b)
            prints.add(b, blocks_[b]->runner.printed());
        prints.move_into(output);
    }

  private:
    /// False where the block has ended.
    bool takes_turn(std::uint32_t block) {
        try {
            if (blocks_[block]->runner.take_turn()) return true;
        } catch (Error& error) {
            error.block = block;
            throw;
        }
        if (progress_) progress_->add(1);
        return false;
    }

    Budget budget_;
    LaunchProgress* progress_;
    std::vector<std::unique_ptr<ResidentBlock>> blocks_;
};

}  // namespace

Statistics run_cooperative(const Kernel& kernel, const FrozenLaunch& launch, Memory& memory,
                           unsigned virtual_sms, Observer* observer, PrintLog& output) {
    require_room(kernel, launch.launch);
    memory.clear_grid_workspace();
    const FloatMode mode(kernel.flush_subnormals);
    ResidentBlocks blocks(kernel, launch, memory);
    try {
        blocks.run(virtual_sms, observer && launch.settings.reverse_blocks, observer);
    } catch (...) {
        blocks.move_prints_into(output);
        if (observer) {
            observer->on_executions(blocks.executions());
            observer->on_failure(~0u);
        }
        throw;
    }
    blocks.move_prints_into(output);
    if (observer) {
        observer->on_executions(blocks.executions());
        observer->on_launch_end();
    }
    return blocks.statistics();
}

}  // namespace warpscope::emulator
