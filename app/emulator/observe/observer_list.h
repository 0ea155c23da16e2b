#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "emulator/observe/observer.h"

namespace warpscope::emulator {

/// Several observers of one launch. Each of them must want all blocks.
class ObserverList : public Observer {
  public:
    void add(Observer& observer) {
        all_.push_back(&observer);
        if (observer.wants_shared_accesses()) of_shared_accesses_.push_back(&observer);
        if (observer.wants_global_accesses()) of_global_accesses_.push_back(&observer);
        if (observer.wants_barriers()) of_barriers_.push_back(&observer);
    }

    std::unique_ptr<Observer> fork() override {
        auto fork = std::make_unique<ObserverList>();
        for (Observer* o : all_) {
            fork->forks_.push_back(o->fork());
            if (!fork->forks_.back()) return nullptr;
            fork->add(*fork->forks_.back());
        }
        return fork;
    }
    void join(Observer& fork) override {
        const auto& forks = dynamic_cast<ObserverList&>(fork).forks_;
        for (std::size_t k = 0; k < all_.size(); ++k) all_[k]->join(*forks[k]);
    }
    void on_failure(std::uint32_t block) override {
        each([&](Observer& o) { o.on_failure(block); });
    }
    void on_launch(const Kernel& kernel, const LaunchShape& launch) override {
        each([&](Observer& o) { o.on_launch(kernel, launch); });
    }
    void on_arguments(std::span<const std::byte> arguments) override {
        each([&](Observer& o) { o.on_arguments(arguments); });
    }
    void on_executions(std::span<const ExecutionCount> counts) override {
        each([&](Observer& o) { o.on_executions(counts); });
    }
    void on_launch_end() override {
        each([](Observer& o) { o.on_launch_end(); });
    }
    bool wants_instructions(const Kernel& kernel) const override {
        return std::any_of(all_.begin(), all_.end(),
                           [&](const Observer* o) { return o->wants_instructions(kernel); });
    }
    bool wants_global_accesses() const override { return !of_global_accesses_.empty(); }
    bool wants_global_loads() const override {
        return std::ranges::any_of(of_global_accesses_, &Observer::wants_global_loads);
    }
    bool wants_shared_accesses() const override { return !of_shared_accesses_.empty(); }
    bool wants_barriers() const override { return !of_barriers_.empty(); }
    std::vector<Observer*> parts() override {
        std::vector<Observer*> parts;
        for (Observer* o : all_)
            for (Observer* part : o->parts()) parts.push_back(part);
        return parts;
    }
    void on_block_begin(const Kernel& kernel, std::uint32_t block) override {
        each([&](Observer& o) { o.on_block_begin(kernel, block); });
    }
    void on_block_turn(std::uint32_t block) override {
        each([&](Observer& o) { o.on_block_turn(block); });
    }
    void on_turns_begin() override {
        each([](Observer& o) { o.on_turns_begin(); });
    }
    void on_turns_end() override {
        each([](Observer& o) { o.on_turns_end(); });
    }
    void on_block_end(std::uint32_t block, const Statistics& statistics) override {
        each([&](Observer& o) { o.on_block_end(block, statistics); });
    }
    void on_shared_access(const Access& access) override {
        for (Observer* o : of_shared_accesses_) o->on_shared_access(access);
    }
    void on_global_access(const Access& access) override {
        for (Observer* o : of_global_accesses_) o->on_global_access(access);
    }
    void on_cluster_access(const Access& access) override {
        each([&](Observer& o) { o.on_cluster_access(access); });
    }
    void on_barrier_arrival(const BarrierArrival& arrival) override {
        for (Observer* o : of_barriers_) o->on_barrier_arrival(arrival);
    }
    void on_barrier_release(const BarrierRelease& release) override {
        for (Observer* o : of_barriers_) o->on_barrier_release(release);
    }
    void on_warp_sync(std::uint32_t block, std::uint32_t warp, std::uint32_t members) override {
        each([&](Observer& o) { o.on_warp_sync(block, warp, members); });
    }
    void on_member_fault(std::uint32_t block, const MemberFault& fault) override {
        each([&](Observer& o) { o.on_member_fault(block, fault); });
    }
    void on_async(std::uint32_t block, const AsyncEvent& event) override {
        each([&](Observer& o) { o.on_async(block, event); });
    }
    void on_fence(std::uint32_t block, std::uint32_t warp, std::uint32_t mask,
                  Fence fence) override {
        each([&](Observer& o) { o.on_fence(block, warp, mask, fence); });
    }
    void on_instruction(std::uint32_t block, const Warp& warp, std::uint32_t mask,
                        std::uint32_t pc) override {
        each([&](Observer& o) { o.on_instruction(block, warp, mask, pc); });
    }
    void on_error(std::uint32_t block, const Error& error) override {
        each([&](Observer& o) { o.on_error(block, error); });
    }
    void on_allocate(std::uint64_t address, std::size_t bytes) override {
        each([&](Observer& o) { o.on_allocate(address, bytes); });
    }
    void on_free(std::uint64_t address) override {
        each([&](Observer& o) { o.on_free(address); });
    }
    void on_host_write(std::uint64_t address, std::size_t bytes) override {
        each([&](Observer& o) { o.on_host_write(address, bytes); });
    }

  private:
    template <typename F>
    void each(F&& f) {
        for (Observer* o : all_) f(*o);
    }

    std::vector<Observer*> all_, of_shared_accesses_, of_global_accesses_, of_barriers_;
    std::vector<std::unique_ptr<Observer>>
        forks_;  ///< owned here if this list is a fork; all_ has them too
};

}  // namespace warpscope::emulator
