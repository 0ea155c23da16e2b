#include "emulator/machine/block_runner.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "emulator/machine/block_errors.h"
#include "emulator/machine/block_state.h"
#include "emulator/program/error.h"

namespace warpscope::emulator {

namespace {

/// Counts what the warps of an observed block execute, by pc of the cost points. A handler takes
/// the cost of its cost point off Warp::left, if it executes it; compiled code, which executes many
/// instructions in one call, counts them itself, but for that of the handler that it may end with
/// (ObservedBlock::last).
class ExecutionCounter {
  public:
    /// A handler is about to run.
    ExecutionCounter(const Instruction* i, const Warp& warp) : warp_(warp), lanes_(warp.mask) {
        warp.block->observed->last = i;
        warp.block->observed->left_before_last = warp.left;
    }
    /// Called after the instruction has run.
    void count() const {
        const ObservedBlock& observed = *warp_.block->observed;
        if (observed.left_before_last == warp_.left) return;
        const Instruction* i = observed.last;
        while (is_prefix(i->role)) ++i;
        ExecutionCount& count = observed.executions[warp_.block->kernel->index_of(i)];
        ++count.warps;
        if (lanes_ != all_lanes) count.idle_lanes += lanes_per_warp - lane_count(lanes_);
        if (is_branch(i->role) && warp_.mask != lanes_) ++count.separations;
    }

  private:
    const Warp& warp_;
    const std::uint32_t lanes_;
};

}  // namespace

BlockRunner::BlockRunner(const Kernel& kernel, const LaunchShape& launch, const Memory& memory,
                         std::span<const std::byte> arguments, const LaunchSettings& settings,
                         Budget& budget, MakeBlockEvents make_events)
    : kernel_(kernel),
      launch_(launch),
      settings_(settings),
      budget_(budget),
      scheduler_(kernel_, settings_),
      barriers_(block_, settings_.barriers),
      make_events_(std::move(make_events)),
      old_values_(settings.keeps_old_values ? std::make_shared<OldValues>() : nullptr) {
    allocate(memory, arguments);
    set_registers();
}

void BlockRunner::allocate(const Memory& memory, std::span<const std::byte> arguments) {
    constexpr std::size_t most_local_bytes = 512 << 20;
    const std::uint64_t threads = launch_.block.count();
    const auto warps = std::uint32_t((threads + lanes_per_warp - 1) / lanes_per_warp);
    // The additional cache line puts the registers of different warps into different cache sets.
    const std::size_t stride = (kernel_.register_bytes + 63) / 64 * 64 + 64;
    block_.registers = AlignedBytes(stride * warps);
    const std::size_t local_bytes = std::size_t(kernel_.local_bytes) * threads;
    if (local_bytes > most_local_bytes)
        throw Error(
            fmt::format("kernel {}: the {} threads of a block need {} MiB of local memory, "
                        "but the emulator has only {} MiB",
                        kernel_.name, threads, local_bytes >> 20, most_local_bytes >> 20));
    block_.local = AlignedBytes(local_bytes);
    BlockContext& context = block_.context;
    context.kernel = &kernel_;
    context.launch = &launch_;
    context.memory = &memory;
    context.arguments = arguments;
    context.shared_bytes = kernel_.shared_bytes + launch_.dynamic_shared_bytes;
    context.local = block_.local.data();
    context.printed = &printed_;
    if (kernel_.is_asynchronous) context.async = &block_.async;
    block_.warps.resize(warps);
    for (std::uint32_t w = 0; w < warps; ++w) {
        Warp& warp = block_.warps[w];
        warp.index = w;
        warp.registers = block_.registers.data() + stride * w;
        warp.block = &context;
        const std::uint64_t left = threads - std::uint64_t(w) * lanes_per_warp;
        warp.threads = left >= lanes_per_warp ? all_lanes : (1u << left) - 1;
    }
}

// Registers that keep their values from block to block.
void BlockRunner::set_registers() {
    const std::span<const std::byte> arguments = block_.context.arguments;
    for (Warp& warp : block_.warps) {
        std::memset(warp.registers, 0, kernel_.register_bytes);
        for (const auto& [slot, value] : kernel_.constants)
            std::memcpy(warp.registers + slot, &value, sizeof(value));
        if (!arguments.empty())
            std::memcpy(warp.registers + kernel_.argument_slot, arguments.data(), arguments.size());
    }
    set_launch_registers(block_);
}

void BlockRunner::begin(std::uint32_t block, std::uint32_t sm, std::uint32_t sm_count,
                        std::byte* shared, Observer* observer) {
    BlockContext& context = block_.context;
    context.block = block;
    context.sm = sm;
    context.shared = shared;
    context.clock = 0;
    context.passes = ~0u;
    still_.begin_block();
    runs_ahead_ = false;
    at_turnstiles_ = last_at_turnstile_ = 0;
    context.live_threads = std::uint32_t(launch_.block.count());
    printed_ = {};
    block_.barriers.fill({});
    block_.awaited = 0;
    block_.completed_barriers = 0;
    block_.listed = 0;
    block_.turn = {};
    block_.runnable = std::uint32_t((1ull << block_.warps.size()) - 1);
    scheduler_.begin_block(block_);
    clear_memory();
    set_block_registers(block_, sm_count);
    for (Warp& warp : block_.warps) warp.begin(kernel_.code.data());
    if (old_values_) observer = &behind_old_values(observer);
    events_ = observer ? events_of(*observer) : nullptr;
    context.observed = events_ ? &events_->observed() : &unobserved_;
    context.member_faults = events_ ? &events_->member_faults() : nullptr;
    if (context.async) {
        block_.async.begin_block(shared, launch_.block.count(), settings_.landing, block_.random,
                                 events_);
        block_.async.hold(block, settings_.held);
    }
}

Observer& BlockRunner::behind_old_values(Observer* observer) {
    old_values_->set_words({});
    with_old_values_ = {};
    with_old_values_.add(*old_values_);
    if (observer) with_old_values_.add(*observer);
    return with_old_values_;
}

BlockEvents* BlockRunner::events_of(Observer& observer) {
    if (!made_events_ || &made_events_->observer() != &observer) {
        BlockContext& context = block_.context;
        made_events_ = make_events_
                           ? make_events_(observer, context, settings_.stop)
                           : std::make_unique<BlockEvents>(observer, context, settings_.stop);
        made_events_->observed().executions = executions_.data();
    }
    return made_events_.get();
}

// Clears what the kernel may read before it writes, so that the result does not depend on the block
// that this host thread has run before.
void BlockRunner::clear_memory() {
    std::byte* const local = block_.local.data();
    for (std::size_t thread = 0; thread < block_.local.size(); thread += kernel_.local_bytes)
        std::memset(local + thread, 0, kernel_.cleared_local_bytes);
    for (Warp& warp : block_.warps)
        for (const RegisterInfo& r : kernel_.cleared) {
            const std::size_t lane_bytes = r.bits == 64 ? 8 : 4;
            std::memset(warp.registers + slot_offset(r.slot), 0,
                        is_uniform(r.slot) ? 8 : lanes_per_warp * lane_bytes);
        }
}

void BlockRunner::begin_run(std::uint32_t block, std::uint32_t sm, std::uint32_t sm_count,
                            std::byte* shared, Observer* observer) {
    if ((observer || old_values_) && executions_.empty()) {
        executions_.resize(kernel_.code.size());
        unobserved_.executions = executions_.data();
    }
    begin(block, sm, sm_count, shared, observer && observer->wants(block) ? observer : nullptr);
}

void BlockRunner::run(std::uint32_t block, std::uint32_t sm, std::uint32_t sm_count,
                      std::byte* shared, Observer* observer) {
    begin_run(block, sm, sm_count, shared, observer);
    if (events_)
        run_observed();
    else
        run_warps<false>();
}

void BlockRunner::run_observed() {
    const Statistics before = block_.statistics;
    events_->block_begin();
    try {
        run_warps<true>();
    } catch (const Error& e) {
        events_->error(e);
        throw;
    }
    events_->block_end(block_.statistics - before);
}

void BlockRunner::take_listed_turn(std::uint32_t which, const OpenTurn& turn) {
    Warp& warp = block_.warps[which];
    block_.last_warp = which;
    block_.turn = turn;
    block_.context.passes = ~0u;
    warp.left = WarpScheduler::longest_turn;
    if (events_) events_->turn_begin();
    try {
        events_ ? run_turn_to_stop<true>(warp) : run_turn_to_stop<false>(warp);
        end_turn(warp);
    } catch (const Error& e) {
        if (events_) events_->error(e);
        throw;
    }
}

void BlockRunner::run_one_turn(Warp& warp) {
    events_ ? run_turn<true>(warp) : run_turn<false>(warp);
    end_turn(warp);
}

// A turn that may end at any instruction.
template <bool observed>
void BlockRunner::run_turn_to_stop(Warp& warp) {
    for (const Instruction* i = enter_split(warp); i; i = enter_split(warp)) {
        do {
            if (block_.turn.is_here(i)) {
                i = warp.pause(i);
                continue;
            }
            block_.turn.executes(i);
            const OldValues::Use old(take_old_values(i));
            if (observed && events_->announces(i, warp)) events_->before_instruction(i, warp);
            if constexpr (observed) {
                const ExecutionCounter executed(i, warp);
                i = i->handlers[warp.mode](i, warp);
                executed.count();
            } else {
                i = i->handlers[warp.mode](i, warp);
            }
        } while (i);
        if constexpr (observed) events_->run_end();
        if (!leave_split(warp)) break;
    }
    poll_stop();
}

template <bool observed>
void BlockRunner::run_warps() {
    while (Warp* warp = scheduler_.begin_turn(block_)) {
        if (block_.turn.is_usual())
            run_turn<observed>(*warp);
        else
            run_turn_to_stop<observed>(*warp);
        end_turn(*warp);
    }
    end_block();
}

template <bool observed>
void BlockRunner::run_turn(Warp& warp) {
    const Instruction* i = warp.splits.size() == 1 ? enter_only_split(warp) : enter_split(warp);
    for (; i; i = enter_split(warp)) {
        if constexpr (observed) {
            do {
                if (events_->announces(i, warp)) {
                    events_->before_instruction(i, warp);
                    if (events_->must_end()) poll_stop();
                }
                const ExecutionCounter executed(i, warp);
                i = i->handlers[warp.mode](i, warp);
                executed.count();
            } while (i);
            events_->run_end();
        } else {
            do i = i->handlers[warp.mode](i, warp);
            while (i);
        }
        if (!leave_split(warp)) break;
    }
    if constexpr (observed) poll_stop();
}

void BlockRunner::end_async_turn() {
    if (!block_.async.end_turn()) fail_deadlock(block_);
}

void BlockRunner::end_block() {
    if (block_.context.live_threads > 0) fail_deadlock(block_);
    if (block_.context.async) block_.async.land_all();
    flush_counts();
    budget_.end_block();
}

// With one program counter no split can run while another split of the warp waits at a barrier.
const Split* BlockRunner::next_of_several(const Warp& warp) const {
    const bool one_counter = has_one_program_counter(settings_.barriers);
    const Split* found = nullptr;
    for (const Split& s : warp.splits) {
        if (s.state == Split::runnable && !found) found = &s;
        if (found && !one_counter) return found;
        if (s.state == Split::at_barrier && one_counter) return nullptr;
    }
    return found;
}

const Instruction* BlockRunner::enter_split(Warp& warp) {
    const Split* next = warp.left > 0 ? next_split(warp) : nullptr;
    if (!next) return nullptr;
    warp.enter(std::uint32_t(next - warp.splits.data()));
    return next->pc;
}

// A split has ended or waits for lanes of its warp.
bool BlockRunner::has_another_split(Warp& warp) {
    if (warp.outcome == Warp::Outcome::split_ended) barriers_.threads_exited(events_);
    if (warp.splits.empty()) return false;
    complete_warp_syncs(warp);
    return true;
}

void BlockRunner::begin_with_next_split(Warp& warp) const {
    if (!has_one_program_counter(settings_.barriers))
        std::rotate(warp.splits.begin(), warp.splits.begin() + 1, warp.splits.end());
}

void BlockRunner::complete_warp_syncs(Warp& warp) {
    const std::int64_t left = warp.left;
    if (events_)
        events_->complete_warp_syncs(warp);
    else
        while (warp.complete_warp_sync()) {
        }
    warp.left = left;
}

void BlockRunner::spend_budget() {
    block_.statistics.warp_instructions += block_.unaccounted;
    Budget::Verdict verdict = budget_.spend(block_.unaccounted, prepaid_);
    if (verdict == Budget::Verdict::within && settings_.ends_where_still &&
        still_.is_still(block_, budget_))
        verdict = Budget::Verdict::still;
    block_.unaccounted = 0;
    if (verdict != Budget::Verdict::within) fail_budget(block_, verdict, settings_);
}

BlockRunner::Saved BlockRunner::save() const {
    const BlockContext& context = block_.context;
    return {.block = block_,
            .shared = {context.shared, context.shared + context.shared_bytes},
            .printed = printed_.mark(),
            .old = old_values_ ? old_values_->words() : OldValues::Words{}};
}

void BlockRunner::restore(const Saved& saved) {
    block_ = saved.block;
    std::copy(saved.shared.begin(), saved.shared.end(), block_.context.shared);
    printed_.back_to(saved.printed);
    if (old_values_) old_values_->set_words(saved.old);
}

void BlockRunner::poll_stop() const {
    if (settings_.stop.stop_requested()) fail_budget(block_, Budget::Verdict::stopped, settings_);
}

void BlockRunner::flush_counts() {
    spend_budget();
    for (Warp& warp : block_.warps) {
        block_.statistics.thread_instructions += warp.thread_instructions;
        warp.thread_instructions = 0;
    }
}

}  // namespace warpscope::emulator
