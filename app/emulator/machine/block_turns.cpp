#include <algorithm>

#include "emulator/machine/block_runner.h"
#include "emulator/program/error.h"

// The turns of a block that runs together with others.
namespace warpscope::emulator {

void BlockRunner::begin_turns(std::uint32_t block, std::uint32_t sm, std::uint32_t sm_count,
                              std::byte* shared, Observer* observer) {
    begin_run(block, sm, sm_count, shared, observer);
    before_block_ = block_.statistics;
    if (!events_) return;
    events_->turn_begin();
    events_->block_begin();
}

bool BlockRunner::take_turn(std::int64_t most) {
    block_.context.passes = most_passes;
    runs_ahead_ = false;
    if (events_) events_->turn_begin();
    try {
        if (take_one_turn(most)) return true;
    } catch (const Error& e) {
        tell_error(e);
        throw;
    }
    tell_end();
    return false;
}

bool BlockRunner::run_ahead(std::int64_t most_of_turn, std::int64_t most) {
    block_.context.passes = 0;
    runs_ahead_ = true;
    if (events_) events_->turn_begin();
    run_to_turnstiles(most_of_turn, block_.context.clock + std::uint64_t(most));
    if (block_.runnable) return true;
    end_block();
    tell_end();
    return false;
}

void BlockRunner::run_to_turnstiles(std::int64_t most_of_turn, std::uint64_t end) {
    at_turnstiles_ = 0;
    while (block_.runnable && block_.context.clock < end) {
        Warp& warp = *scheduler_.begin_turn(block_);
        warp.left = std::min(warp.left, most_of_turn);
        run_one_turn(warp);
        if (warp.outcome != Warp::Outcome::paused || !warp.is_stopped_by(warp.stopped_at)) continue;
        at_turnstiles_ |= block_.runnable & 1u << warp.index;
        block_.runnable &= ~at_turnstiles_;
    }
    block_.runnable |= at_turnstiles_;
}

void BlockRunner::tell_error(const Error& error) {
    if (events_) events_->error(error);
}

void BlockRunner::tell_end() {
    if (events_) events_->block_end(block_.statistics - before_block_);
}

bool BlockRunner::take_one_turn(std::int64_t most) {
    Warp* const warp = begin_turn();
    if (!warp) {
        end_block();
        return false;
    }
    warp->left = std::min(warp->left, most);
    run_one_turn(*warp);
    return true;
}

// Where the block has run ahead, the turn is that of a warp at a turnstile: the others need none.
Warp* BlockRunner::begin_turn() {
    if (!at_turnstiles_) return scheduler_.begin_turn(block_);
    last_at_turnstile_ = WarpScheduler::next_after(last_at_turnstile_, at_turnstiles_);
    at_turnstiles_ = 0;
    Warp& warp = block_.warps[last_at_turnstile_];
    warp.left = WarpScheduler::longest_turn;
    return &warp;
}

}  // namespace warpscope::emulator
