#include <algorithm>
#include <bit>
#include <cstring>

#include "emulator/machine/block.h"
#include "emulator/machine/host_timer.h"

// A block under a person's hand: the turns of run_warps(), held after each instruction.
namespace warpscope::emulator {

namespace {

// What a person picks runs on until it can't.
constexpr int64_t endless = 1 << 30;

const Instruction* behind_prefixes(const Instruction* i) {
    while (is_prefix(i->role)) ++i;
    return i;
}

}  // namespace

bool BlockRunner::is_inserted(const Instruction* i) const {
    return kernel_.lines[kernel_.index_of(behind_prefixes(i))].pseudo;
}

void BlockRunner::stand(uint32_t block, uint32_t sm, uint32_t sm_count, std::byte* shared,
                        Observer& observer) {
    begin(block, sm, sm_count, shared);
    context_.timer_base = host_timer();
    observer_ = &observer;
    wanted_ = wanted_by(*observer_);
    turn_ = {};
    finished_ = false;
    observer_->on_block_begin(kernel_, block);
    settle();
}

std::optional<uint32_t> BlockRunner::turn_of() const {
    if (finished_) return std::nullopt;
    return turn_.warp;
}

uint32_t BlockRunner::pc_ahead(uint32_t warp) const {
    uint32_t pc = kernel_.index_of(next_split(warps_[warp])->pc);
    while (kernel_.lines[pc].pseudo) ++pc;
    return pc;
}

BlockRunner::Executed BlockRunner::under_prefixes(const Instruction* i, Warp& warp) const {
    uint32_t mask = warp.mask;
    for (; is_prefix(i->role); ++i)
        if (i->role == Role::guard)
            mask &= warp.predicate(i->operands[0]);
        else if (i->role == Role::guard_not)
            mask &= ~warp.predicate(i->operands[0]);
    return {kernel_.index_of(i), mask};
}

void BlockRunner::step(uint32_t w) {
    executed_ = {pc_ahead(w), 0};
    if (w == turn_.warp) {
        if (!advance(turn_)) turn_.open = false;
        return settle();
    }
    // The turn stands still meanwhile. Its split is known by its lanes: others may join it.
    Warp& owner = warps_[turn_.warp];
    const int64_t left = owner.left;
    const uint32_t lanes = owner.mask;
    interrupt(owner, turn_);
    step_between(warps_[w]);
    owner.left = left;
    for (uint32_t s = 0; s < owner.splits.size(); ++s)
        if (owner.splits[s].mask & lanes) enter(turn_, owner, s);
    settle();
}

void BlockRunner::step_between(Warp& warp) {
    Turn turn{true, warp.index};
    warp.left = endless;
    enter_split(warp);
    enter(turn, warp, warp.current);
    // Inserted ones before it are run with it, and those after it.
    bool goes_on = true, executed = false;
    while (goes_on && (!executed || is_inserted(turn.next))) {
        executed = executed || !is_inserted(turn.next);
        goes_on = advance(turn);
    }
    if (goes_on) interrupt(warp, turn);
}

// Leaves the running split where it is, as if it had never been in a turn.
void BlockRunner::interrupt(Warp& warp, Turn& turn) {
    account(uint64_t(turn.before - warp.left));
    warp.splits[warp.current].pc = turn.next;
    warp.leave();
}

void BlockRunner::enter(Turn& turn, Warp& warp, uint32_t split) {
    warp.enter(split);
    turn.next = warp.splits[split].pc;
    turn.before = warp.left;
}

// One instruction of the running split; false when the turn is over.
bool BlockRunner::advance(Turn& turn) {
    Warp& warp = warps_[turn.warp];
    if (!is_inserted(turn.next)) executed_ = under_prefixes(turn.next, warp);
    if (turn.next->events & wanted_) observe(turn.next, warp);
    turn.next = turn.next->handlers[warp.mode](turn.next, warp);
    if (turn.next) return true;
    if (leave_split(warp, turn.before) && enter_split(warp)) {
        enter(turn, warp, warp.current);
        return true;
    }
    if (!next_split(warp)) runnable_ &= ~(1u << warp.index);
    return false;
}

bool BlockRunner::open_turn() {
    Warp* warp = pick_warp();
    if (!warp) {
        if (context_.live_threads > 0) report_deadlock();
        account(0);
        finished_ = true;
        return false;
    }
    turn_ = {true, warp->index};
    warp->left = int64_t(turn_length(*warp));
    enter_split(*warp);
    enter(turn_, *warp, warp->current);
    return true;
}

// On to the next instruction that a person knows of.
void BlockRunner::settle() {
    for (;;) {
        if (!turn_.open && !open_turn()) return;
        if (!is_inserted(turn_.next)) break;
        if (!advance(turn_)) turn_.open = false;
    }
    Warp& warp = warps_[turn_.warp];
    warp.splits[warp.current].pc = turn_.next;
}

void BlockRunner::save(Snapshot& s) const {
    s.registers.assign(registers_.get(), registers_.get() + register_bytes_);
    s.local.assign(local_.get(), local_.get() + local_bytes_);
    s.shared.assign(context_.shared, context_.shared + context_.shared_bytes);
    s.warps = warps_;
    s.barriers = barriers_;
    s.turn = turn_;
    s.runnable = runnable_;
    s.last = last_;
    s.epoch = epoch_;
    s.live_threads = context_.live_threads;
    s.clock = context_.clock;
    s.random_state = random_state_;
    s.unaccounted = unaccounted_;
    s.budget = budget_.left();
    s.finished = finished_;
    s.printed = context_.printed.mark();
    s.statistics = statistics_;
}

void BlockRunner::restore(const Snapshot& s) {
    std::copy(s.registers.begin(), s.registers.end(), registers_.get());
    std::copy(s.local.begin(), s.local.end(), local_.get());
    std::copy(s.shared.begin(), s.shared.end(), context_.shared);
    warps_ = s.warps;
    barriers_ = s.barriers;
    turn_ = s.turn;
    runnable_ = s.runnable;
    last_ = s.last;
    epoch_ = s.epoch;
    context_.live_threads = s.live_threads;
    context_.clock = s.clock;
    random_state_ = s.random_state;
    unaccounted_ = s.unaccounted;
    budget_.set(s.budget);
    finished_ = s.finished;
    context_.printed.back_to(s.printed);
    statistics_ = s.statistics;
}

}  // namespace warpscope::emulator
