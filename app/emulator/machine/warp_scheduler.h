#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "emulator/machine/block_state.h"
#include "emulator/warp/splitmix64.h"

namespace warpscope::emulator {

/// Chooses which warp of a block runs next, and for how many instructions.
class WarpScheduler {
  public:
    WarpScheduler(const Kernel& kernel, const LaunchSettings& settings)
        : settings_(settings),
          is_random_(settings.schedule == Schedule::random &&
                     (kernel.has_barrier || kernel.uses_shared)) {}

    void begin_block(BlockState& state) const {
        state.random = xorshift(splitmix64(splitmix64(settings_.seed) ^ state.context.block));
        prepare_random_turn(state);
        const auto warps = std::uint32_t(state.warps.size());
        state.last_warp = settings_.schedule == Schedule::reverse ? 0 : warps - 1;
    }

    /// A limit, because a warp may spin until another warp stores a value.
    static constexpr std::int64_t longest_turn = 1 << 18;

    /// The warp (or unit) of `runnable`, which has a bit for each, that follows `last` in the order
    /// of their numbers; behind the highest one, the lowest one.
    static std::uint32_t next_after(std::uint32_t last, std::uint32_t runnable) {
        return lowest(last == 31 ? 0 : runnable & (~0u << (last + 1)), runnable);
    }

    /// Begins the next turn: chooses its warp, and sets Warp::left to its warp instructions.
    /// Returns nullptr when no warp can run.
    Warp* begin_turn(BlockState& state) const {
        const std::uint32_t runnable = state.runnable;
        if (!runnable) return nullptr;
        if (is_random_) return begin_random_turn(state, runnable);
        std::uint32_t& last = state.last_warp;
        if (settings_.schedule == Schedule::manual) {
            last = begin_listed_turn(state);
        } else if (settings_.schedule == Schedule::reverse) {
            const std::uint32_t below = runnable & ((1u << last) - 1);
            last = 31 - std::uint32_t(std::countl_zero(below ? below : runnable));
        } else {
            last = next_after(last, runnable);
        }
        Warp& warp = state.warps[last];
        warp.left = longest_turn;
        return &warp;
    }

  private:
    // The first runnable warp from a random one on: cheaper than an even choice. Races become
    // visible when warps are at different places shortly after a barrier or the start of the block,
    // so the first turns there are short. Their scale doubles from turn to turn, so that switching
    // costs little between distant barriers. One fixed scale would be slow or would hide most
    // races. The numbers of the turn after this one are computed at once: the CPU does so beside
    // the turn, which would have to wait for them.
    static Warp* begin_random_turn(BlockState& state, std::uint32_t runnable) {
        const std::uint64_t length = state.next_length;
        state.last_warp = lowest(runnable & (~0u << state.next_first), runnable);
        Warp& warp = state.warps[state.last_warp];
        prepare_random_turn(state);
        const unsigned doublings = std::min(warp.turns++, 12u);
        warp.left = 1 + std::int64_t(length * (std::uint64_t(48) << doublings) >> 32);
        return &warp;
    }
    static void prepare_random_turn(BlockState& state) {
        const std::uint64_t for_warp = state.random, for_length = xorshift(for_warp);
        state.random = xorshift(for_length);
        state.next_first = std::uint32_t((for_warp >> 32) * state.warps.size() >> 32);
        state.next_length = for_length >> 32;
    }
    static std::uint32_t lowest(std::uint32_t warps, std::uint32_t otherwise) {
        return std::uint32_t(std::countr_zero(warps ? warps : otherwise));
    }
    static std::uint64_t xorshift(std::uint64_t x) {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        return x;
    }
    std::uint32_t begin_listed_turn(BlockState& state) const {
        if (state.listed_epoch != state.completed_barriers) state.listed = 0;
        state.listed_epoch = state.completed_barriers;
        state.turn = {};
        const bool has_turns =
            settings_.together.empty() &&
            settings_.turns_of_block.value_or(state.context.block) == state.context.block &&
            state.completed_barriers < settings_.turns.size();
        while (has_turns && state.listed < settings_.turns[state.completed_barriers].size()) {
            const ListedTurn& turn = settings_.turns[state.completed_barriers][state.listed++];
            if (turn.warp >= state.warps.size() || !(state.runnable >> turn.warp & 1)) continue;
            state.turn = OpenTurn::of(turn, *state.context.kernel);
            return turn.warp;
        }
        if (has_turns)
            state.listed = std::uint32_t(settings_.turns[state.completed_barriers].size()) + 1;
        return next_after(state.last_warp, state.runnable);
    }

    const LaunchSettings& settings_;
    bool is_random_;  ///< warps that share nothing cannot tell their order: they run to the end
};

}  // namespace warpscope::emulator
