#include "emulator/machine/block_events.h"

#include <bit>
#include <cstring>
#include <utility>

#include "emulator/warp/instruction_walk.h"

namespace warpscope::emulator {

namespace {

/// Sets the addresses of all lanes, so that no mask slows the loop. Sets only that of the first
/// lane of the mask if the operand is uniform. T has the width of the address register.
template <typename T>
void set_lane_addresses(const Warp& warp, std::uint32_t operand, T offset, std::uint32_t mask,
                        std::uint64_t* addresses) {
    const auto* values = reinterpret_cast<const T*>(warp.registers + slot_offset(operand));
    if (is_uniform(operand)) {
        addresses[std::countr_zero(mask)] = T(values[0] + offset);
        return;
    }
    for (unsigned lane = 0; lane < lanes_per_warp; ++lane)
        addresses[lane] = T(values[lane] + offset);
}

std::uint32_t wanted_by(const Observer& observer) {
    std::uint32_t wanted = Instruction::warp_sync | Instruction::fences;
    if (observer.wants_instructions()) wanted |= Instruction::executes;
    if (observer.wants_shared_accesses()) wanted |= Instruction::shared_access | wants_foreseen;
    if (observer.wants_global_accesses()) wanted |= Instruction::global_access;
    return wanted;
}

}  // namespace

BlockEvents::BlockEvents(Observer& observer, const BlockContext& block, RepeatedLoads& repeated,
                         BlockModel& model, const std::stop_token& stop)
    : observer_(observer),
      block_(block),
      followers_(observer.followers()),
      told_(&observer),
      told_foreseen_(&observer),
      repeated_(repeated),
      model_(model),
      stop_(stop),
      wanted_(wanted_by(observer)),
      wants_barriers_(observer.wants_barriers()) {
    nothing_.distances = model_.position().distances;
    if (!followers_ || observer.wants_instructions()) model_.turn_off();
}

void BlockEvents::block_begin() {
    repeated_.take_written();  // the block before may have failed
    repeated_.forget();
    model_.begin_block();
    if (model_.is_followed()) begin_to_follow();
    tell([&](Observer& o) { o.on_block_begin(*block_.kernel, block_.block); });
    if (model_.is_recording()) followers_->on_model_begin();
}

void BlockEvents::begin_to_follow() {
    Observer* const others = observer_.others();
    told_ = told_foreseen_ = others;
    if (!model_.is_proved()) {
        repeated_.tell_next_at_once();  // the block leaves the model, at this place
        return;
    }
    wanted_ &= ~(wants_foreseen | Instruction::warp_sync);
    if (others) wanted_ |= wanted_by(*others);
    if (!model_.has_unforeseen() && !(others && others->wants_shared_accesses()))
        wanted_ &= ~std::uint32_t(Instruction::shared_access);
    wants_barriers_ = others && others->wants_barriers();
}

void BlockEvents::block_end(const Statistics& of_block) {
    tell_broadcasts();
    if (model_.is_followed() && !model_.is_at_end()) leave_model();
    if (told_foreseen_)
        repeated_.take(
            [&](std::uint32_t pc, std::uint64_t n) { told_foreseen_->on_repeated_loads(pc, n); },
            [&](std::uint64_t address, std::uint32_t bytes, std::uint64_t n) {
                told_foreseen_->on_repeated_address(address, bytes, n);
            });
    tell([&](Observer& o) { o.on_block_end(block_.block, of_block); });
    const bool is_good = model_.is_recording() && !followers_->refuses_model();
    if (model_.end_block(is_good)) followers_->on_model(model_);
    if (model_.is_followed()) followers_->on_followed(model_, block_.block, of_block);
}

void BlockEvents::leave_model() {
    followers_->on_block_begin(*block_.kernel, block_.block);
    if (model_.is_proved()) followers_->on_proved_block(model_);
    model_.leave(
        block_.block,
        [&](const Access& a, BlockModel::Kind kind) {
            kind == BlockModel::Kind::shared_access ? followers_->on_shared_access(a)
                                                    : followers_->on_global_access(a);
        },
        [&](const BarrierArrival& arrival) { followers_->on_barrier_arrival(arrival); },
        [&](const BarrierRelease& release) { followers_->on_barrier_release(release); },
        [&](std::uint32_t warp, std::uint32_t members) {
            followers_->on_warp_sync(block_.block, warp, members);
        });
    told_ = &observer_;
    if (!model_.is_proved()) told_foreseen_ = &observer_;
}

template <typename... Event>
void BlockEvents::compare(const Event&... event) {
    if (model_.is_followed()) {
        if (!model_.has(event...)) leave_model();
    } else if (model_.is_recording()) {
        model_.record(event...);
    }
}

void BlockEvents::error(const Error& error) {
    tell_broadcasts();
    tell_member_faults();
    if (model_.is_followed()) leave_model();
    observer_.on_error(block_.block, error);
}

void BlockEvents::before_instruction(const Instruction* i, const Warp& warp) {
    tell_broadcasts();
    std::uint32_t mask = warp.mask;
    constexpr std::uint32_t uniform = Instruction::uniform_shared | Instruction::shared_access;
    if ((i->events & (wanted_ | Instruction::guards | uniform)) == uniform && (mask & 1))
        return uniform_shared_access(i, warp);
    if (i->events & Instruction::guards) {
        const GuardedInstruction guarded = behind_prefixes(i, warp);
        mask = guarded.lanes;
        if (!mask) return;
        i = guarded.instruction;
    }
    const std::uint32_t events = i->events & wanted_;
    if (events & Instruction::executes)
        told_->on_instruction(block_.block, warp.index, mask, block_.kernel->index_of(i));
    if (events & (Instruction::shared_access | Instruction::global_access))
        memory_access(i, warp, mask);
    else if (events & Instruction::warp_sync)
        warp_barrier(i, warp, mask);
    else if (events & Instruction::fences)
        tell([&](Observer& o) {
            block_.kernel->lines[block_.kernel->index_of(i)].scope == Scope::block
                ? o.on_fence_of_block(block_.block, warp.index, mask)
                : o.on_fence(block_.block, warp.index, mask);
        });
}

void BlockEvents::shared_access(const Access& access) {
    const auto tell_access = [&](Observer& o) { o.on_shared_access(access); };
    if (is_foreseen(*block_.kernel, access.pc)) {
        tell_foreseen(tell_access, access, BlockModel::Kind::shared_access);
    } else {
        compare(access, BlockModel::Kind::shared_access);
        tell(tell_access);
    }
    if (access.kind != MemoryAccess::load) repeated_.forget();
}

void BlockEvents::global_access(const Access& access) {
    const std::size_t moves = model_.moves().size();
    compare(access, BlockModel::Kind::global_access);
    if (model_.is_followed()) {
        if (model_.moves().size() > moves)
            model_.set_needs_values(
                followers_->needs_values(access.pc, model_.moves().back().distance));
        if (model_.needs_values(access.pc)) followers_->on_stored_values(access);
    }
    tell([&](Observer& o) { o.on_global_access(access); });
}

void BlockEvents::warp_sync(std::uint32_t warp, std::uint32_t members) {
    tell_foreseen([&](Observer& o) { o.on_warp_sync(block_.block, warp, members); }, warp, members);
}

// Which of these loads compiled code writes down depends on the schedule.
void BlockEvents::tell_written_broadcasts() {
    if (!model_.is_proved()) {
        if (model_.is_followed()) leave_model();
        model_.turn_off();
    }
    const std::span<BroadcastLoad> loads = repeated_.take_written();
    for (BroadcastLoad& load : loads) load.repeats = true;
    told_foreseen_->on_broadcasts(loads);
    for (const BroadcastLoad& load : loads)
        if (load.repeats)
            repeated_.remember(load.address, block_.kernel->lines[load.pc].bytes, load.pc);
}

// An access of the running lanes.
Access BlockEvents::access_of(const Instruction* i, const Warp& warp,
                              const std::uint64_t* addresses) const {
    const std::uint32_t pc = block_.kernel->index_of(i);
    const InstructionInfo& info = block_.kernel->lines[pc];
    return {.block = block_.block,
            .warp = warp.index,
            .mask = warp.mask,
            .lane_addresses = addresses,
            .bytes = info.bytes,
            .kind = info.access,
            .pc = pc,
            .same_address = is_uniform(i->operands[info.address_operand]),
            .state = &warp};
}

bool BlockEvents::report(const Instruction* i, const Warp& warp, const std::uint64_t* addresses,
                         unsigned consecutive_lanes) noexcept {
    Access access = access_of(i, warp, addresses);
    access.checked = true;
    access.consecutive = consecutive_lanes == lanes_per_warp;
    access.consecutive_halves = consecutive_lanes != 0;
    try {
        tell_broadcasts();
        if (block_.kernel->lines[access.pc].space == Space::shared)
            shared_access(access);
        else
            global_access(access);
    } catch (...) {
        failure_ = std::current_exception();
    }
    return failure_ || must_end();
}

bool BlockEvents::report_broadcasts() noexcept {
    try {
        tell_broadcasts();
    } catch (...) {
        failure_ = std::current_exception();
    }
    return failure_ || must_end();
}

void BlockEvents::announce(const Instruction* i, const Warp& warp) noexcept {
    try {
        if (i->events & wanted_) before_instruction(i, warp);
    } catch (...) {
        failure_ = std::current_exception();
    }
}

// Lanes may name different members. complete_warp_syncs() reports those whose members are still to
// arrive.
void BlockEvents::warp_barrier(const Instruction* i, const Warp& warp, std::uint32_t mask) {
    repeated_.forget();
    for (std::uint32_t left = mask; left;) {
        const auto lane = unsigned(std::countr_zero(left));
        const auto members = warp.get<std::uint32_t>(i->operands[0], lane);
        if ((members & ~warp.exited & ~mask) == 0) warp_sync(warp.index, members);
        left &= ~(members | (left & (0 - left)));
    }
}

void BlockEvents::memory_access(const Instruction* i, const Warp& warp, std::uint32_t mask) {
    std::uint64_t addresses[lanes_per_warp];
    const InstructionInfo& info = block_.kernel->lines[block_.kernel->index_of(i)];
    const std::uint32_t operand = i->operands[info.address_operand];
    if (AccessForm(i->target).wide_address)
        set_lane_addresses<std::uint64_t>(warp, operand, std::uint64_t(i->immediate), mask,
                                          addresses);
    else
        set_lane_addresses<std::uint32_t>(warp, operand, std::uint32_t(i->immediate), mask,
                                          addresses);
    Access access = access_of(i, warp, addresses);
    access.mask = mask;
    if (info.space == Space::generic)
        generic_access(access, addresses);
    else if (info.space == Space::shared)
        shared_access(access);
    else
        global_access(access);
}

// A shared access of all lanes, lane 0 among them, to one address: the most frequent one in inner
// loops.
void BlockEvents::uniform_shared_access(const Instruction* i, const Warp& warp) {
    const InstructionInfo& info = block_.kernel->lines[block_.kernel->index_of(i)];
    const std::uint32_t operand = i->operands[info.address_operand];
    const std::uint64_t address =
        std::uint32_t(warp.get<std::uint32_t>(operand, 0) + std::uint32_t(i->immediate));
    shared_access(access_of(i, warp, &address));
}

// First the lanes whose address is in global memory, then those in shared memory.
void BlockEvents::generic_access(Access& access, std::uint64_t* addresses) {
    std::uint32_t in_shared = 0, in_global = 0;
    for (std::uint32_t lanes = access.mask; lanes; lanes &= lanes - 1) {
        const auto lane = unsigned(std::countr_zero(lanes));
        const std::uint64_t address = access.address(lane);
        if (address - shared_window < window_size) {
            in_shared |= 1u << lane;
        } else if (address - local_window >= window_size) {
            in_global |= 1u << lane;
        }
    }
    if (in_global) {
        access.mask = in_global;
        global_access(access);
    }
    if (!in_shared) return;
    access.mask = in_shared;
    const std::uint32_t given = access.same_address ? in_shared & (0 - in_shared) : in_shared;
    for (std::uint32_t lanes = given; lanes; lanes &= lanes - 1)
        addresses[std::countr_zero(lanes)] -= shared_window;
    shared_access(access);
}

void BlockEvents::complete_warp_syncs(Warp& warp) {
    tell_broadcasts();
    repeated_.forget();
    for (;;) {
        const std::vector<Split> before = warp.splits;
        if (!warp.complete_warp_sync()) break;
        for (const Split& s : before) {
            if (s.state != Split::at_warp_sync || !(s.mask & warp.mask)) continue;
            if (s.pc->role == Role::warp_barrier) warp_barrier(s.pc, warp, warp.mask);
            break;
        }
    }
    tell_member_faults();
}

void BlockEvents::tell_member_faults() {
    for (const MemberFault& fault : member_faults_) observer_.on_member_fault(block_.block, fault);
    member_faults_.clear();
}

void BlockEvents::tell_arrival(const Instruction* i, const Warp& warp, std::uint32_t lanes,
                               unsigned barrier, std::uint32_t expected) {
    // Lanes that arrive do not exit next.
    const std::uint32_t live = lanes == all_lanes ? all_lanes : staying_lanes(warp);
    const BarrierArrival arrival{block_.block,
                                 warp.index,
                                 lanes,
                                 live,
                                 block_.kernel->index_of(i),
                                 barrier,
                                 expected,
                                 BarrierKind(i->detail) != BarrierKind::arrive};
    tell_foreseen([&](Observer& o) { o.on_barrier_arrival(arrival); }, arrival);
}

void BlockEvents::tell_release(unsigned barrier, std::uint32_t epoch) {
    const BarrierRelease release{
        block_.block, barrier, epoch, block_.live_threads, {block_.shared, block_.shared_bytes}};
    tell_foreseen([&](Observer& o) { o.on_barrier_release(release); }, release);
}

Access access_of(const BroadcastLoad& load) {
    const BlockContext& block = *load.warp->block;
    return {.block = block.block,
            .warp = load.warp->index,
            .mask = all_lanes,
            .lane_addresses = &load.address,
            .bytes = block.kernel->lines[load.pc].bytes,
            .kind = MemoryAccess::load,
            .pc = load.pc,
            .same_address = true,
            .checked = true,
            .state = load.warp};
}

void Access::stored(unsigned lane, std::byte* into) const {
    const Instruction& i = state->block->kernel->code[pc];
    const AccessForm form(i.target);
    const unsigned size = bytes / form.elements;
    for (unsigned e = 0; e < form.elements; ++e) {
        const std::uint32_t operand = i.operands[e + 1];
        const std::uint64_t value = form.wide_register ? state->get<std::uint64_t>(operand, lane)
                                                       : state->get<std::uint32_t>(operand, lane);
        std::memcpy(into + e * size, &value, size);
    }
}

const std::byte* Access::shared_memory() const {
    return state->block->shared;
}

}  // namespace warpscope::emulator
