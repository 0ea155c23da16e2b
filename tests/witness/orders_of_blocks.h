#pragma once

#include <algorithm>

#include "all_orders.h"
#include "emulator/stepper/block_stepper.h"
#include "emulator/warp/cluster.h"

namespace warpscope::tests {

/// Runs every order of the warps of several blocks with at most some preemptions, at every access,
/// without leaving any out. It steps by hand, saves memory itself, and knows nothing of the search.
/// The other blocks of the launch run before them.
class OrdersOfBlocks {
  public:
    using Result = std::vector<std::uint32_t>;
    static constexpr std::size_t most_words = 1024;

    /// `which`: of `blocks`, those whose warps take turns; two that are a cluster, if the kernel
    /// has clusters.
    OrdersOfBlocks(const emulator::Kernel& kernel, std::uint32_t threads, std::uint32_t blocks,
                   const std::vector<std::uint32_t>& which)
        : launch_(kernel, threads, {}, most_words, blocks),
          warps_((threads + 31) / 32),
          units_(std::uint32_t(which.size()) * warps_),
          budget_(launch_.launch.settings) {
        std::memset(launch_.out, 0, most_words * 4);
        for (const auto& variable : kernel.module->variables())
            std::memset(variable.data, 0, variable.bytes);
        for (std::uint32_t block = 0; block < blocks; ++block)
            if (std::ranges::find(which, block) == which.end()) run_alone(block);
        std::vector<emulator::Cluster::Block> of_cluster;
        for (std::size_t k = 0; k < which.size(); ++k) {
            auto& stepper = *steppers_.emplace_back(std::make_unique<emulator::BlockStepper>(
                kernel, launch_.launch.launch, launch_.machine.memory(), launch_.launch.arguments,
                launch_.launch.settings, budget_));
            of_cluster.push_back(stepper.block_of_cluster());
        }
        for (const auto& block : of_cluster) copies_.push_back(block.context->async);
        if (kernel.uses_cluster) cluster_.emplace(of_cluster);
        shared_.assign(which.size(), std::vector<std::byte>(kernel.shared_bytes + 16));
        for (std::size_t k = 0; k < which.size(); ++k) {
            steppers_[k]->begin_turns(which[k], which[k], 29, shared_[k].data(), &nothing_);
            if (cluster_) copies_[k]->join_cluster(copies_, &waiting_turns_);
            steppers_[k]->start(nullptr);
        }
    }

    /// The results of these orders, in which a failed launch has one of its own. nullopt: there are
    /// too many orders.
    std::optional<std::set<Result>> results(unsigned preemptions) {
        results_.clear();
        orders_ = 0;
        gives_up_ = false;
        const Saved start = save();
        run_rest(preemptions, {});
        restore(start);
        if (gives_up_) return {};
        return results_;
    }
    std::uint64_t orders() const { return orders_; }

    /// All warps advance together, access by access, or each runs until it waits or ends.
    Result reference(bool in_step) {
        const Saved start = save();
        bool ended = false;
        for (std::uint32_t unit = 0; !ended; unit = (unit + 1) % units_) {
            for (bool first = true, over = false; !over && can_run(unit); first = false) {
                if (in_step && !first && is_before_access(unit)) break;
                over = step(unit);
            }
            ended = true;
            for (std::uint32_t other = 0; other < units_; ++other) ended &= !can_run(other);
        }
        const Result result = values();
        restore(start);
        return result;
    }

  private:
    static constexpr std::uint64_t most_orders = 6'000, longest_turn = 400;
    class Nothing : public emulator::Observer {};
    struct Saved {
        std::vector<emulator::BlockStepper::Saved> blocks;
        Result global;
        std::vector<std::vector<std::byte>> variables;
        emulator::Cluster::Barrier barrier;
        bool failed = false;
    };

    emulator::BlockStepper& of(std::uint32_t unit) { return *steppers_[unit / warps_]; }
    bool can_run(std::uint32_t unit) {
        const std::uint32_t warp = unit % warps_;
        if (failed_ || !of(unit).can_run(warp)) return false;
        const std::string& next = launch_.launch.kernel->lines[of(unit).next_pc(warp)].text;
        return next.find("barrier.cluster.wait") == next.npos ||
               !cluster_->must_wait(of(unit).warps()[warp], ~0u);
    }
    void run_alone(std::uint32_t block) {
        emulator::FrozenLaunch one = launch_.launch;
        one.settings.first_block = block;
        one.settings.blocks = 1;
        one.settings.schedule = emulator::Schedule::run_to_barrier;
        launch_.machine.run(one);
    }
    bool is_before_access(std::uint32_t unit) {
        return launch_.launch.kernel->lines[of(unit).next_pc(unit % warps_)].access !=
               emulator::MemoryAccess::none;
    }
    /// Returns whether the turn is over: the warp has come to a barrier.
    bool step(std::uint32_t unit) {
        const std::uint32_t pc = of(unit).next_pc(unit % warps_);
        try {
            of(unit).step(unit % warps_);
        } catch (const std::exception&) {
            failed_ = true;
        }
        return failed_ ||
               launch_.launch.kernel->lines[pc].text.find("bar.sync") != std::string::npos;
    }
    Result values() const { return failed_ ? Result{1} : launch_.values(); }

    Saved save() {
        Saved saved{.blocks = {},
                    .global = launch_.values(),
                    .variables = {},
                    .barrier = {},
                    .failed = failed_};
        if (cluster_) saved.barrier = cluster_->barrier();
        for (const auto& stepper : steppers_) saved.blocks.push_back(stepper->save());
        for (const auto& v : launch_.launch.kernel->module->variables())
            saved.variables.emplace_back(v.data, v.data + v.bytes);
        return saved;
    }
    void restore(const Saved& saved) {
        for (std::size_t k = 0; k < steppers_.size(); ++k) steppers_[k]->restore(saved.blocks[k]);
        std::memcpy(launch_.out, saved.global.data(), most_words * 4);
        const auto& variables = launch_.launch.kernel->module->variables();
        for (std::size_t k = 0; k < variables.size(); ++k)
            std::memcpy(variables[k].data, saved.variables[k].data(), saved.variables[k].size());
        if (cluster_) cluster_->restore(saved.barrier);
        failed_ = saved.failed;
    }

    void run_rest(unsigned left, std::optional<std::uint32_t> barred) {
        bool ended = true;
        const Saved here = save();
        for (std::uint32_t unit = 0; unit < units_ && !gives_up_; ++unit) {
            if (!can_run(unit)) continue;
            ended = false;
            if (unit == barred) continue;
            run_turn(unit, left);
            restore(here);
        }
        if (!ended) return;
        results_.insert(values());
        gives_up_ = gives_up_ || ++orders_ > most_orders;
    }
    void run_turn(std::uint32_t unit, unsigned left) {
        for (std::uint64_t steps = 0; !gives_up_; ++steps) {
            // It waits in a loop for another warp.
            if (steps > longest_turn) return run_rest(left, unit);
            const bool over = step(unit);
            if (over || !can_run(unit)) return run_rest(left, {});
            if (left == 0 || !is_before_access(unit)) continue;
            const Saved here = save();
            run_rest(left - 1, unit);
            restore(here);
        }
    }

    SmallBlock launch_;
    const std::uint32_t warps_, units_;
    emulator::Budget budget_;
    Nothing nothing_;
    std::vector<std::vector<std::byte>> shared_;
    std::optional<emulator::Cluster> cluster_;
    std::vector<emulator::AsyncCopies*> copies_;
    std::uint32_t waiting_turns_ = 0;
    std::vector<std::unique_ptr<emulator::BlockStepper>> steppers_;
    std::set<Result> results_;
    std::uint64_t orders_ = 0;
    bool gives_up_ = false, failed_ = false;
};

}  // namespace warpscope::tests
