#include "emulator/witness/turn_runner.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "emulator/lower/control_flow.h"
#include "emulator/lower/uniformity.h"
#include "emulator/machine/together/launch_together.h"
#include "emulator/machine/warp_scheduler.h"
#include "emulator/ptx/effects.h"
#include "emulator/ptx/opcodes.h"
#include "emulator/stepper/blocks_together.h"
#include "emulator/warp/splitmix64.h"
#include "emulator/warp/warp.h"

namespace warpscope::emulator {
namespace {

using Bits = std::vector<bool>;

void step_back_over(const Statement& statement, Bits& live) {
    for (const std::int32_t r : destinations_of(statement)) live[std::size_t(r)] = false;
    for (const std::int32_t r : sources_of(statement)) live[std::size_t(r)] = true;
}

LiveRegisters::Piece piece_of(const RegisterInfo& info) {
    const std::uint32_t lane_bytes = info.bits == 64 ? 8 : 4;
    const bool is_one = info.bits == 1 || is_uniform(info.slot);
    return {slot_offset(info.slot), is_one ? 8 : lanes_per_warp * lane_bytes};
}

}  // namespace

LiveRegisters::LiveRegisters(const Kernel& kernel) : kernel_(kernel) {
    const KernelSyntax& syntax = kernel.origin->syntax;
    const std::vector<BasicBlock>& blocks = kernel.origin->flow.blocks;
    const std::size_t registers = syntax.registers.size();
    // The registers that are used have places, in their order.
    Bits used(registers);
    for (const Statement& statement : syntax.statements)
        for (const auto& list : {destinations_of(statement), sources_of(statement)})
            for (const std::int32_t r : list) used[std::size_t(r)] = true;
    std::vector<Piece> places(registers);
    auto next = kernel.registers.begin();
    for (std::size_t r = 0; r < registers && next != kernel.registers.end(); ++r)
        if (used[r]) places[r] = piece_of(*next++);

    std::vector<Bits> live_in(blocks.size(), Bits(registers));
    const auto live_behind = [&](const BasicBlock& block) {
        Bits live(registers);
        for (const std::uint32_t s : block.successors) merge(live, live_in[s]);
        return live;
    };
    for (bool changed = true; changed;) {
        changed = false;
        for (std::size_t b = blocks.size(); b-- > 0;) {
            Bits live = live_behind(blocks[b]);
            for (std::uint32_t i = blocks[b].end; i-- > blocks[b].first;)
                step_back_over(syntax.statements[i], live);
            changed |= merge(live_in[b], live);
        }
    }
    pieces_.resize(syntax.statements.size());
    for (const BasicBlock& block : blocks) {
        Bits live = live_behind(block);
        for (std::uint32_t i = block.end; i-- > block.first;) {
            step_back_over(syntax.statements[i], live);
            for (std::size_t r = 0; r < registers; ++r)
                if (live[r]) pieces_[i].push_back(places[r]);
        }
    }
}

const std::vector<LiveRegisters::Piece>& LiveRegisters::at(const Instruction* pc) const {
    const std::uint32_t index = kernel_.index_of(skip_inserted(kernel_, pc));
    return pieces_[kernel_.lines[index].statements - 1];
}

namespace {

/// Mixes words into two numbers. Four sums beside each other keep the CPU busy.
class StateHash {
  public:
    void add(std::uint64_t word) {
        std::uint64_t& sum = sums_[next_++ % 4];
        sum = (sum ^ word) * 0x9E3779B97F4A7C15ull;
        sum ^= sum >> 29;
    }
    void add(const std::byte* bytes, std::size_t count) {
        std::size_t at = 0;
        for (; at + 32 <= count; at += 32) {
            std::uint64_t words[4];
            std::memcpy(words, bytes + at, sizeof words);
            for (unsigned k = 0; k < 4; ++k) {
                sums_[k] = (sums_[k] ^ words[k]) * 0x9E3779B97F4A7C15ull;
                sums_[k] ^= sums_[k] >> 29;
            }
        }
        for (; at < count; ++at) add(std::uint64_t(bytes[at]));
    }
    std::pair<std::uint64_t, std::uint64_t> value() const {
        return {splitmix64(sums_[0] ^ splitmix64(sums_[1])) + sums_[2],
                splitmix64(sums_[2] ^ splitmix64(sums_[3])) + sums_[0]};
    }

  private:
    std::uint64_t sums_[4] = {1, 2, 3, 4};
    unsigned next_ = 0;
};

std::vector<bool> copy_starts(const Kernel& kernel) {
    std::vector<bool> starts(kernel.code.size(), false);
    for (std::uint32_t pc = 0; kernel.is_asynchronous && pc < kernel.lines.size(); ++pc) {
        const Grammar grammar = opcode_of(kernel.code[pc].operation).grammar;
        starts[pc] = !kernel.lines[pc].pseudo &&
                     (grammar == Grammar::async_copy || grammar == Grammar::bulk_copy ||
                      grammar == Grammar::tensor_copy || grammar == Grammar::async_store);
    }
    return starts;
}

bool reads_clock(const Kernel& kernel) {
    return std::any_of(kernel.lines.begin(), kernel.lines.end(), [](const InstructionInfo& info) {
        return info.text.find("%clock") != info.text.npos ||
               info.text.find("%globaltimer") != info.text.npos;
    });
}

}  // namespace

bool starts_copies(const Kernel& kernel) {
    const std::vector<bool> starts = copy_starts(kernel);
    return std::ranges::find(starts, true) != starts.end();
}

TurnRunner::TurnRunner(const FrozenLaunch& launch, const Memory& memory, Budget& budget,
                       AccessWatch& watch)
    : BlockRunner(*launch.kernel, launch.launch, memory, launch.arguments, launch.settings, budget),
      watch_(watch),
      live_(*launch.kernel),
      starts_copies_(copy_starts(*launch.kernel)),
      has_copies_(std::ranges::find(starts_copies_, true) != starts_copies_.end()),
      reads_clock_(reads_clock(*launch.kernel)) {}

void TurnRunner::start(std::uint32_t block, std::uint32_t sm, std::uint32_t sm_count,
                       std::byte* shared) {
    if (old_values_) executions_.resize(kernel_.code.size());  // take_turn() counts them
    begin(block, sm, sm_count, shared, &watch_);
    block_.context.timer_base = 1;
    watch_.begin();
    events_->block_begin();
}

std::uint32_t TurnRunner::ready_warps() const {
    std::uint32_t ready = block_.runnable;
    const bool may_wait = kernel_.has_mbarriers || kernel_.uses_cluster;
    for (std::uint32_t left = may_wait ? ready : 0; left; left &= left - 1)
        if (waits_for_phase(std::uint32_t(std::countr_zero(left)))) ready &= ~(left & (0 - left));
    return ready;
}

/// Its lanes have all looked at a phase that has not ended, and have done nothing since.
bool TurnRunner::waits_for_phase(std::uint32_t warp) const {
    const FailedWait& wait = block_.async.failed_waits()[warp];
    const auto& splits = block_.warps[warp].splits;
    if (!wait.is_some() || splits.size() != 1) return false;
    const std::uint32_t pc = kernel_.index_of(splits[0].pc);
    if (wait.for_cluster)
        return pc == wait.pc &&
               block_.context.cluster->must_wait(block_.warps[warp], splits[0].mask);
    if (pc != wait.pc + 1) return false;
    for (const Mbarrier& barrier : block_.async.barriers())
        if (barrier.address == wait.barrier) return !barrier.has_ended(wait.parity);
    return false;
}

void TurnRunner::begin_turn(std::uint32_t warp, bool reads_old) {
    warp_ = warp;
    block_.turn = {.reads_old = reads_old};
    suspended_ = false;
    has_executed_ = false;
    passes_.clear();
    block_.last_warp = warp;
    block_.warps[warp].left = WarpScheduler::longest_turn;
}

bool TurnRunner::go_on(StopAt where) {
    Warp& warp = block_.warps[warp_];
    watch_.epoch = block_.completed_barriers;
    bool stands_here = std::exchange(suspended_, false);
    const Instruction* i = nullptr;
    if (stands_here) {
        warp.enter(warp.current);
        i = warp.splits[warp.current].pc;
    } else {
        i = enter_split(warp);
    }
    for (; i; i = enter_split(warp)) {
        do {
            const bool announced = events_->announces(i, warp);
            const std::size_t logged = watch_.log.size();
            watch_.newest = AccessWatch::Newest::alone;
            if (old_values_) old_values_->begin_instruction();
            const OldValues::Use old(take_old_values(i));
            if (announced) events_->before_instruction(i, warp);
            const bool stops =
                announced &&
                (where == StopAt::any_access ||
                 (where == StopAt::contended && watch_.newest == AccessWatch::Newest::contended));
            may_end_here_ = stops && has_executed_;
            is_at_copy_ = where == StopAt::contended && starts_copies_[kernel_.index_of(i)];
            if ((may_end_here_ || is_at_copy_) && !stands_here) {
                watch_.log.resize(logged);
                if (old_values_) old_values_->take_back();
                warp.pause(i);
                warp.leave();
                count(warp.executed());
                suspended_ = true;
                return true;
            }
            if (announced) {
                const std::uint32_t pc = kernel_.index_of(i);
                const auto pass = std::find_if(passes_.begin(), passes_.end(),
                                               [&](const auto& p) { return p.first == pc; });
                pass == passes_.end() ? passes_.emplace_back(pc, 1).second : ++pass->second;
            }
            stands_here = false;
            has_executed_ = true;
            const bool starts_copies = starts_copies_[kernel_.index_of(i)];
            i = i->handlers[warp.mode](i, warp);
            if (starts_copies) block_.async.hold_next(AsyncCopies::Hold::none);
        } while (i);
        events_->run_end();
        if (!leave_split(warp)) break;
    }
    end_turn(warp);
    return false;
}

void TurnRunner::end_turn_here() {
    Warp& warp = block_.warps[warp_];
    suspended_ = false;
    if (warp.splits.size() > 1) begin_with_next_split(warp);
    end_turn(warp);
}

// A turn that ends lets another split begin.
std::optional<OldValues::Store> TurnRunner::other_store() const {
    if (!old_values_ || !may_end_here_) return {};
    const auto& splits = block_.warps[warp_].splits;
    const auto can_run = [](const Split& split) { return split.state == Split::runnable; };
    return std::ranges::count_if(splits, can_run) == 1 ? old_values_->other_store() : std::nullopt;
}

ListedTurn TurnRunner::turn() const {
    ListedTurn turn{.warp = warp_};
    if (!suspended_) return turn;
    const Warp& warp = block_.warps[warp_];
    turn.until = kernel_.index_of(warp.splits[warp.current].pc);
    for (const auto& [pc, times] : passes_)
        if (pc == turn.until) turn.after = times;
    return turn;
}

TurnRunner::Position TurnRunner::save() const {
    const BlockContext& context = block_.context;
    return {.block = block_,
            .shared = {context.shared, context.shared + context.shared_bytes},
            .written = watch_.written.values(),
            .printed = printed_.mark(),
            .warp = warp_,
            .suspended = suspended_,
            .has_executed = has_executed_,
            .may_end_here = may_end_here_,
            .passes = passes_,
            .logged = watch_.log.size()};
}

void TurnRunner::restore(const Position& position) {
    block_ = position.block;
    std::copy(position.shared.begin(), position.shared.end(), block_.context.shared);
    watch_.written.restore(position.written);
    watch_.log.resize(position.logged);
    printed_.back_to(position.printed);
    warp_ = position.warp;
    suspended_ = position.suspended;
    has_executed_ = position.has_executed;
    may_end_here_ = position.may_end_here;
    passes_ = position.passes;
}

std::uint64_t TurnRunner::warp_key() const {
    const Warp& warp = block_.warps[warp_];
    StateHash hash;
    for (const Split& split : warp.splits) {
        hash.add(std::uint64_t(split.pc));
        for (const auto& [offset, bytes] : live_.at(split.pc))
            hash.add(warp.registers + offset, bytes);
    }
    return hash.value().first;
}

TurnRunner::Key TurnRunner::key() const {
    StateHash hash;
    hash.add(block_.local.data(), block_.local.size());
    hash.add(block_.context.shared, block_.context.shared_bytes);
    hash.add(watch_.written.key());
    hash.add(block_.completed_barriers | std::uint64_t(ready_warps()) << 32);
    hash.add(block_.context.live_threads);
    if (reads_clock_) hash.add(block_.context.clock);
    for (const BarrierState& barrier : block_.barriers) {
        hash.add(barrier.arrived | std::uint64_t(barrier.counted) << 32);
        hash.add(barrier.expected | std::uint64_t(barrier.holding) << 32);
    }
    for (const Warp& warp : block_.warps) {
        hash.add(warp.exited);
        hash.add(warp.splits.size());
        for (const Split& split : warp.splits) {
            hash.add(std::uint64_t(split.pc));
            hash.add(split.mask | std::uint64_t(split.members) << 32);
            hash.add(std::uint64_t(split.state) | std::uint64_t(split.barrier) << 8 |
                     std::uint64_t(std::uint32_t(split.join)) << 32);
            for (const auto& [offset, bytes] : live_.at(split.pc))
                hash.add(warp.registers + offset, bytes);
        }
        for (const PendingJoin& join : warp.joins) {
            hash.add(std::uint64_t(join.at));
            hash.add(join.at ? join.expected | std::uint64_t(join.arrived) << 32 : 0);
            hash.add(std::uint64_t(std::uint32_t(join.parent)));
        }
    }
    return hash.value();
}

UnitRunner::UnitRunner(Machine& machine, const FrozenLaunch& launch, std::uint32_t block,
                       Budget& budget, AccessWatch& watch)
    : warps_(warps_of_block(launch.launch)) {
    TurnRunner& runner = *runners_.emplace_back(
        std::make_unique<TurnRunner>(launch, machine.memory(), budget, watch));
    of_sms_ = run_earlier_blocks(machine, launch, block, runner, watch);
    const std::uint32_t sm = block % machine.virtual_sms();
    budget.count_instructions_only();
    runner.start(block, sm, machine.virtual_sms(), of_sms_[sm].data());
    unit_ = warps_ - 1;
}

// The blocks begin as those of ResidentBlocks do.
UnitRunner::UnitRunner(Machine& machine, const FrozenLaunch& launch, Budget& budget,
                       AccessWatch& watch)
    : warps_(warps_of_block(launch.launch)) {
    const Kernel& kernel = *launch.kernel;
    const BlockGroup group{launch.launch, launch.settings.together};
    const unsigned sms = machine.virtual_sms();
    if (!group.is_whole())
        OtherBlocks(kernel, launch, machine.memory(), budget)
            .run(OtherBlocks::When::before, sms, &watch);
    const bool in_cluster = kernel.uses_cluster && launch.launch.cluster.count() > 1;
    watch.join_blocks(group, in_cluster);
    if (launch.launch.cooperative) machine.memory().clear_grid_workspace();
    budget.count_instructions_only();
    std::vector<Cluster::Block> blocks;
    for (std::size_t k = 0; k < group.blocks.size(); ++k) {
        shared_.emplace_back(kernel.shared_bytes + launch.launch.dynamic_shared_bytes);
        std::fill_n(shared_[k].data(), shared_[k].size(), std::byte(0));
        auto runner = std::make_unique<TurnRunner>(launch, machine.memory(), budget, watch);
        if (k > 0) runner->share_old_values(*runners_[0]);
        blocks.push_back(runner->block_of_cluster());
        copies_.push_back(blocks.back().context->async);
        runners_.push_back(std::move(runner));
    }
    if (kernel.uses_cluster) cluster_.emplace(std::move(blocks));
    for (std::size_t k = 0; k < group.blocks.size(); ++k) {
        const std::uint32_t block = group.blocks[k];
        runners_[k]->start(block, block % sms, sms, shared_[k].data());
    }
    for (AsyncCopies* const copies : copies_)
        if (cluster_) copies->join_cluster(copies_, &waiting_turns_);
    unit_ = std::uint32_t(group.units()) - 1;
}

std::uint32_t UnitRunner::ready() const {
    std::uint32_t all = 0;
    for (std::size_t k = 0; k < runners_.size(); ++k)
        all |= runners_[k]->ready_warps() << k * warps_;
    return all;
}

std::uint32_t UnitRunner::able() const {
    std::uint32_t all = 0;
    for (std::size_t k = 0; k < runners_.size(); ++k)
        all |= runners_[k]->runnable_warps() << k * warps_;
    return all;
}

std::uint32_t UnitRunner::runnable() const {
    if (const std::uint32_t some = ready()) return some;
    const std::uint32_t some = able();
    return some & (0 - some);
}

std::uint32_t UnitRunner::usual_unit() const {
    return WarpScheduler::next_after(unit_, able());
}

void UnitRunner::begin_turn(std::uint32_t unit, bool reads_old) {
    unit_ = unit;
    acting().begin_turn(unit % warps_, reads_old);
}

void UnitRunner::take_turn(const ListedTurn& turn) {
    unit_ = turn.warp;
    acting().take_turn(turn.warp % warps_, turn);
}

ListedTurn UnitRunner::turn() const {
    ListedTurn turn = acting().turn();
    turn.warp = unit_;
    return turn;
}

std::vector<HeldCopy> UnitRunner::held() const {
    std::vector<HeldCopy> all;
    for (const auto& runner : runners_)
        all.insert(all.end(), runner->held().begin(), runner->held().end());
    return all;
}

void UnitRunner::finish() {
    for (const auto& runner : runners_) runner->finish();
}

UnitRunner::Position UnitRunner::save() const {
    Position position{.blocks = {}, .barrier = {}, .waiting_turns = waiting_turns_, .unit = unit_};
    for (const auto& runner : runners_) position.blocks.push_back(runner->save());
    if (cluster_) position.barrier = cluster_->barrier();
    if (const OldValues* const old = acting().old_values()) position.old = old->words();
    return position;
}

void UnitRunner::restore(const Position& position) {
    for (std::size_t k = 0; k < runners_.size(); ++k) runners_[k]->restore(position.blocks[k]);
    if (cluster_) cluster_->restore(position.barrier);
    waiting_turns_ = position.waiting_turns;
    unit_ = position.unit;
    if (OldValues* const old = acting().old_values()) old->set_words(position.old);
}

UnitRunner::Key UnitRunner::key() const {
    Key all{};
    for (const auto& runner : runners_) {
        const Key key = runner->key();
        all.first = splitmix64(all.first ^ key.first);
        all.second = splitmix64(all.second ^ key.second);
    }
    if (const OldValues* const old = acting().old_values()) all.first ^= old->key();
    if (!cluster_) return all;
    for (const Cluster::Arrivals& arrivals : cluster_->barrier().arrivals) {
        const std::uint64_t lanes = arrivals.now | std::uint64_t(arrivals.waiting) << 32;
        all.first = splitmix64(all.first ^ lanes);
        all.second = splitmix64(all.second + lanes);
    }
    return all;
}

}  // namespace warpscope::emulator
