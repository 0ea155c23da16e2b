#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <utility>

#include "emulator/machine/block_state.h"
#include "emulator/machine/splitmix64.h"

namespace warpscope::emulator {

/// Chooses which warp of a block runs next, and for how many instructions.
class WarpScheduler {
  public:
    WarpScheduler(const Kernel& kernel, const Options& options)
        : options_(options),
          is_random_(options.schedule == Schedule::random &&
                     (kernel.has_barrier || kernel.uses_shared)) {}

    void begin_block(BlockState& state) const {
        state.random = xorshift(splitmix64(splitmix64(options_.seed) ^ state.context.block));
        const auto warps = std::uint32_t(state.warps.size());
        state.last_warp = options_.schedule == Schedule::reverse ? 0 : warps - 1;
    }

    /// The warp of the next turn; nullptr when no warp can run.
    Warp* pick(BlockState& state) const {
        const std::uint32_t runnable = state.runnable;
        if (!runnable) return nullptr;
        std::uint32_t& last = state.last_warp;
        if (is_random_) {
            // The first runnable warp from a random one on: cheaper than an even choice.
            const auto first = std::uint32_t((random(state) >> 32) * state.warps.size() >> 32);
            last = lowest(runnable & (~0u << first), runnable);
        } else if (options_.schedule == Schedule::manual) {
            last = first_in_order(state);
        } else if (options_.schedule == Schedule::reverse) {
            const std::uint32_t below = runnable & ((1u << last) - 1);
            last = 31 - std::uint32_t(std::countl_zero(below ? below : runnable));
        } else {
            last = lowest(last == 31 ? 0 : runnable & (~0u << (last + 1)), runnable);
        }
        return &state.warps[last];
    }

    /// Warp instructions of the warp's next turn. Races become visible when warps are at different
    /// places shortly after a barrier or the start of the block, so the first turns there are
    /// short. Their scale doubles from turn to turn, so that switching costs little between distant
    /// barriers. One fixed scale would be slow or would hide most races.
    std::uint64_t turn_length(BlockState& state, Warp& warp) const {
        // A limit, because a warp may spin until another warp stores a value.
        constexpr std::uint64_t longest_turn = 1 << 18;
        if (!is_random_) return longest_turn;
        const unsigned doublings = std::min(warp.turns++, 12u);
        return 1 + ((random(state) >> 32) * (std::uint64_t(48) << doublings) >> 32);
    }

  private:
    static std::uint32_t lowest(std::uint32_t warps, std::uint32_t otherwise) {
        return std::uint32_t(std::countr_zero(warps ? warps : otherwise));
    }
    // The number after this one is computed at once: the CPU does so beside the turn, which would
    // have to wait for it.
    static std::uint64_t random(BlockState& state) {
        return std::exchange(state.random, xorshift(state.random));
    }
    static std::uint64_t xorshift(std::uint64_t x) {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        return x;
    }
    std::uint32_t first_in_order(const BlockState& state) const {
        const auto& orders = options_.orders;
        if (!orders.empty())
            for (const std::uint32_t w :
                 orders[std::min<std::size_t>(state.epoch, orders.size() - 1)])
                if (state.runnable >> w & 1) return w;
        return lowest(state.runnable, state.runnable);
    }

    const Options& options_;
    bool is_random_;  ///< warps that share nothing cannot tell their order: they run to the end
};

}  // namespace warpscope::emulator
