#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "emulator/machine/machine.h"
#include "emulator/stepper/stepper.h"

namespace warpscope::tests {

/// The text of an embedded PTX file of tests/races.
std::string_view witness_kernels(std::string_view file);

inline const emulator::Module& witness_module(const std::string& file) {
    static std::map<std::string, std::shared_ptr<const emulator::Module>> modules;
    auto& module = modules[file];
    if (!module) module = emulator::Module::parse(witness_kernels(file + ".ptx"), file + ".cu");
    return *module;
}

/// A block of a kernel whose one argument is a buffer with a word for each thread, or with `size`
/// words that hold numbers from 1000 on.
struct SmallBlock {
    SmallBlock(const emulator::Kernel& kernel, std::uint32_t threads,
               const emulator::LaunchSettings& settings = {}, std::size_t size = 0,
               std::uint32_t blocks = 1)
        : words(size ? size : threads) {
        out = machine.memory().allocate(words * 4);
        for (std::uint32_t k = 0; k < size; ++k) static_cast<std::uint32_t*>(out)[k] = 1000 + k;
        const void* arguments[] = {&out};
        launch = emulator::Machine::freeze(kernel, {{blocks, 1, 1}, {threads, 1, 1}, 0}, arguments,
                                           settings);
    }
    std::vector<std::uint32_t> values() const {
        std::vector<std::uint32_t> all(words);
        std::memcpy(all.data(), out, words * 4);
        return all;
    }

    emulator::Machine machine;
    std::size_t words;
    void* out = nullptr;
    emulator::FrozenLaunch launch;
};

/// The result of the order in which all warps advance together, access by access, or of that in
/// which each warp runs until it waits or ends.
inline std::vector<std::uint32_t> result_in(const emulator::Kernel& kernel, std::uint32_t threads,
                                            bool in_step) {
    SmallBlock block(kernel, threads);
    emulator::Stepper stepper(block.machine, block.launch, 0);
    const auto is_before_access = [&](std::uint32_t warp) {
        return stepper.kernel().lines[*stepper.next_pc(warp)].access !=
               emulator::MemoryAccess::none;
    };
    for (std::uint32_t warp = 0; stepper.end() == emulator::Stepper::End::open;
         warp = (warp + 1) % stepper.warps()) {
        const std::uint32_t passed = stepper.epoch();
        for (bool first = true; stepper.next_pc(warp) && stepper.epoch() == passed; first = false) {
            if (in_step && !first && is_before_access(warp)) break;
            stepper.step(warp);
        }
    }
    if (stepper.end() == emulator::Stepper::End::failed) return {1};
    return block.values();
}

/// Runs every order of a block with at most some preemptions, at every access, without leaving any
/// out. It steps by hand and knows nothing of the search.
class AllOrders {
  public:
    AllOrders(const emulator::Kernel& kernel, std::uint32_t threads)
        : block_(kernel, threads), stepper_(block_.machine, block_.launch, 0) {}

    /// The results of these orders, in which a failed block has one of its own. nullopt: there are
    /// too many orders.
    std::optional<std::set<std::vector<std::uint32_t>>> results(unsigned preemptions) {
        results_.clear();
        orders_ = 0;
        gives_up_ = false;
        run_rest(preemptions, {});
        if (gives_up_) return {};
        return results_;
    }
    std::uint64_t orders() const { return orders_; }

  private:
    static constexpr std::uint64_t most_orders = 4'000, longest_turn = 400;

    void run_rest(unsigned left, std::optional<std::uint32_t> barred) {
        if (stepper_.end() != emulator::Stepper::End::open) {
            auto values = block_.values();
            if (stepper_.end() == emulator::Stepper::End::failed) values = {1};
            results_.insert(std::move(values));
            gives_up_ = gives_up_ || ++orders_ > most_orders;
            return;
        }
        const std::uint64_t here = stepper_.position();
        for (std::uint32_t warp = 0; warp < stepper_.warps() && !gives_up_; ++warp) {
            if (warp == barred || !stepper_.next_pc(warp)) continue;
            run_turn(warp, left);
            stepper_.seek(here);
        }
    }
    void run_turn(std::uint32_t warp, unsigned left) {
        const std::uint32_t passed = stepper_.epoch();
        for (std::uint64_t steps = 0;; ++steps) {
            if (gives_up_) return;
            // It waits in a loop for another warp.
            if (steps > longest_turn) return run_rest(left, warp);
            stepper_.step(warp);
            const auto next = stepper_.next_pc(warp);
            if (!next || stepper_.epoch() != passed) return run_rest(left, {});
            if (left == 0 || stepper_.kernel().lines[*next].access == emulator::MemoryAccess::none)
                continue;
            const std::uint64_t here = stepper_.position();
            run_rest(left - 1, warp);
            stepper_.seek(here);
        }
    }

    SmallBlock block_;
    emulator::Stepper stepper_;
    std::set<std::vector<std::uint32_t>> results_;
    std::uint64_t orders_ = 0;
    bool gives_up_ = false;
};

}  // namespace warpscope::tests
