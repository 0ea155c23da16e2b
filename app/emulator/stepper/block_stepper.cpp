#include "emulator/stepper/block_stepper.h"

#include <algorithm>

#include "emulator/program/special_register.h"
#include "emulator/warp/warp.h"

namespace warpscope::emulator {

// A prefix belongs to the instruction behind it.
bool BlockStepper::is_inserted(const Instruction* i) const {
    while (is_prefix(i->role)) ++i;
    return kernel_.lines[kernel_.index_of(i)].pseudo;
}

void BlockStepper::start(ResidentBlocks* together) {
    together_ = together;
    block_.context.timer_base = host_timer();
    if (together) together->set_timer(block_.context.timer_base);
    turn_ = {};
    finished_ = false;
    if (together && !together->is_listed()) together->run_others();
    turns_ = 0;
    advance_to_ptx();
}

std::optional<std::uint32_t> BlockStepper::scheduled_warp() const {
    if (finished_) return std::nullopt;
    return turn_.warp;
}

std::uint32_t BlockStepper::listed_turn() const {
    const bool of_blocks = together_ && together_->is_listed();
    const std::size_t listed = of_blocks ? together_->listed() : block_.listed;
    const std::size_t epoch = of_blocks ? 0 : block_.listed_epoch;
    const auto& turns = settings_.turns;
    if (listed == 0 || epoch >= turns.size() || listed > turns[epoch].size()) return 0;
    std::size_t before = 0;
    for (std::size_t k = 0; k < epoch; ++k) before += turns[k].size();
    return std::uint32_t(before + listed);
}

std::uint32_t BlockStepper::next_pc(std::uint32_t warp) const {
    return kernel_.index_of(skip_inserted(kernel_, next_split(block_.warps[warp])->pc));
}

void BlockStepper::step(std::uint32_t w) {
    executed_ = {next_pc(w), 0};
    if (w == turn_.warp) {
        turn_.open = advance(turn_);
        return advance_to_ptx();
    }
    // The suspended split is found again by its lanes: other lanes may have joined it.
    Warp& owner = block_.warps[turn_.warp];
    const std::int64_t left = owner.left;
    const std::uint32_t lanes = owner.mask;
    suspend(owner, turn_);
    insert_step(block_.warps[w]);
    owner.left = left;
    for (std::uint32_t s = 0; s < owner.splits.size(); ++s)
        if (owner.splits[s].mask & lanes) enter(turn_, owner, s);
    advance_to_ptx();
}

// One PTX instruction of a warp, with the inserted instructions before and after it.
void BlockStepper::insert_step(Warp& warp) {
    constexpr std::int64_t no_limit = 1 << 30;
    Turn turn{true, warp.index};
    warp.left = no_limit;
    enter_split(warp);
    enter(turn, warp, warp.current);
    bool executed = false;
    while (turn.open && (!executed || is_inserted(turn.next))) {
        executed = executed || !is_inserted(turn.next);
        turn.open = advance(turn);
    }
    if (turn.open) suspend(warp, turn);
}

// Leaves the running split where it is and ends the turn without a trace.
void BlockStepper::suspend(Warp& warp, const Turn& turn) {
    warp.pause(turn.next);
    warp.leave();
    count(warp.executed());
}

void BlockStepper::enter(Turn& turn, Warp& warp, std::uint32_t split) {
    warp.enter(split);
    turn.next = warp.splits[split].pc;
}

// Executes one instruction of the running split; false when the turn is over.
bool BlockStepper::advance(Turn& turn) {
    Warp& warp = block_.warps[turn.warp];
    if (!is_inserted(turn.next)) {
        const GuardedInstruction guarded = behind_prefixes(turn.next, warp);
        executed_ = {kernel_.index_of(guarded.instruction), guarded.lanes};
    }
    const bool is_scheduled = &turn == &turn_;
    if (is_scheduled) block_.turn.executes(turn.next);
    OldValues* const values = is_scheduled ? take_old_values(turn.next) : nullptr;
    executed_.reads_old |= values != nullptr;
    const OldValues::Use old(values);
    if (turn.next->events & events_->wanted()) events_->before_instruction(turn.next, warp);
    turn.next = turn.next->handlers[warp.mode](turn.next, warp);
    if (turn.next) return true;
    if (leave_split(warp) && enter_split(warp)) {
        enter(turn, warp, warp.current);
        return true;
    }
    end_turn(warp);
    return false;
}

// Lets the other blocks take their turns in the order of ResidentBlocks::run().
void BlockStepper::let_others_run() {
    if (turns_ == 0 || (turns_ < together_->most_turns() && !turn_has_waited())) return;
    together_->run_others();
    turns_ = 0;
}

Warp* BlockStepper::begin_turn() {
    if (together_) let_others_run();
    Warp* const warp = scheduler_.begin_turn(block_);
    ++turns_;
    if (warp && together_) warp->left = std::min(warp->left, ResidentBlocks::longest_turn);
    return warp;
}

Warp* BlockStepper::begin_listed_turn() {
    const auto turn = together_->run_listed_others();
    if (!turn) return nullptr;
    block_.last_warp = turn->warp;
    block_.turn = turn->rest;
    Warp& warp = block_.warps[turn->warp];
    warp.left = WarpScheduler::longest_turn;
    return &warp;
}

// Begins the next turn; false at the end of the block.
bool BlockStepper::open_turn() {
    Warp* const warp = together_ && together_->is_listed() ? begin_listed_turn() : begin_turn();
    if (!warp) {
        end_block();
        finished_ = true;
        // A block that waits for ever, without an end of its own, ends with the time or on request.
        while (together_ && !together_->others_have_ended() &&
               budget_.check_time() == Budget::Verdict::within)
            together_->run_others();
        return false;
    }
    turn_ = {true, warp->index};
    enter_split(*warp);
    enter(turn_, *warp, warp->current);
    return true;
}

// The scheduled turn ends before its next instruction.
void BlockStepper::end_listed_turn() {
    Warp& warp = block_.warps[turn_.warp];
    warp.pause(turn_.next);
    leave_split(warp);
    end_turn(warp);
    turn_.open = false;
}

// Runs inserted instructions until the next instruction is one of the PTX text.
void BlockStepper::advance_to_ptx() {
    for (;;) {
        if (!turn_.open && !open_turn()) return;
        if (block_.turn.is_here(turn_.next)) {
            end_listed_turn();
            continue;
        }
        if (!is_inserted(turn_.next)) break;
        turn_.open = advance(turn_);
    }
    Warp& warp = block_.warps[turn_.warp];
    warp.splits[warp.current].pc = turn_.next;
}

BlockStepper::Saved BlockStepper::save() const {
    Saved saved{.runner = BlockRunner::save(),
                .turn = turn_,
                .turns = turns_,
                .finished = finished_,
                .budget = budget_.left()};
    if (together_) saved.others = together_->save();
    return saved;
}

void BlockStepper::restore(const Saved& saved) {
    BlockRunner::restore(saved.runner);
    turn_ = saved.turn;
    turns_ = saved.turns;
    finished_ = saved.finished;
    budget_.set_left(saved.budget);
    if (together_) together_->restore(saved.others);
}

}  // namespace warpscope::emulator
