#include "emulator/machine/block_events.h"

#include <bit>
#include <utility>

#include "emulator/observe/copy_accesses.h"
#include "emulator/program/lanes.h"
#include "emulator/ptx/opcodes.h"
#include "emulator/textures/texture_lanes.h"
#include "emulator/warp/cluster.h"
#include "emulator/warp/memory.h"
#include "emulator/warp/warp.h"

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

}  // namespace

BlockEvents::BlockEvents(Observer& observer, BlockContext& block, const std::stop_token& stop,
                         std::shared_ptr<ObservedBlock> observed)
    : observer_(observer),
      block_(block),
      told_(&observer),
      stop_(stop),
      observed_(std::move(observed)) {}

std::uint32_t BlockEvents::wanted_by(const Observer& observer, const Kernel& kernel) {
    std::uint32_t wanted = Instruction::warp_sync | Instruction::fences;
    if (observer.wants_instructions(kernel)) wanted |= Instruction::executes;
    if (observer.wants_shared_accesses()) wanted |= Instruction::shared_access;
    if (observer.wants_global_accesses()) wanted |= Instruction::global_access;
    return wanted;
}

void BlockEvents::block_begin() {
    told_ = &observer_;
    in_cluster_ = block_.cluster && block_.cluster->size() > 1;
    const std::uint32_t of_cluster = in_cluster_ ? Instruction::shared_access : 0;
    want(wanted_by(observer_, *block_.kernel) | of_cluster, observer_.wants_barriers());
    observer_.on_block_begin(*block_.kernel, block_.block);
}

void BlockEvents::block_end(const Statistics& of_block) {
    observer_.on_block_end(block_.block, of_block);
}

void BlockEvents::error(const Error& error) {
    tell_member_faults();
    observer_.on_error(block_.block, error);
}

void BlockEvents::before_instruction(const Instruction* i, const Warp& warp) {
    std::uint32_t mask = warp.mask;
    constexpr std::uint32_t uniform = Instruction::uniform_shared | Instruction::shared_access;
    if ((i->events & (wanted_ | Instruction::guards | uniform)) == uniform && (mask & 1))
        return uniform_shared_access(i, warp);
    if (i->events & Instruction::guards) {
        if (warp.is_stopped_by(i)) return;  // it is announced again when it runs
        const GuardedInstruction guarded = behind_prefixes(i, warp);
        mask = guarded.lanes;
        if (!mask) return;
        i = guarded.instruction;
    }
    const std::uint32_t events = i->events & wanted_;
    if (told_ && events & Instruction::executes)
        told_->on_instruction(block_.block, warp, mask, block_.kernel->index_of(i));
    if (events & (Instruction::shared_access | Instruction::global_access))
        accesses_image(i->operation) ? image_access(i, warp, mask) : memory_access(i, warp, mask);
    else if (events & Instruction::warp_sync)
        warp_barrier(i, warp, mask);
    else if (told_ && events & Instruction::fences)
        told_->on_fence(block_.block, warp.index, mask,
                        fence_of(block_.kernel->lines[block_.kernel->index_of(i)]));
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

// Lanes may name different members. complete_warp_syncs() reports those whose members are still to
// arrive.
void BlockEvents::warp_barrier(const Instruction* i, const Warp& warp, std::uint32_t mask) {
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
    const AccessForm form(i->target);
    mask &= form.addressing_lanes();
    if (!mask) return;
    if (form.wide_address)
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
        own_shared_access(access);
    else if (info.space == Space::cluster)
        shared_access_in_cluster(access, addresses);
    else
        global_access(access);
}

// An access that fails is not told: its handler reports it.
void BlockEvents::image_access(const Instruction* i, const Warp& warp, std::uint32_t mask) {
    const InstructionInfo& info = block_.kernel->lines[block_.kernel->index_of(i)];
    const TextureLanes lanes(*i, warp, info.address_operand);
    Access::Image part = Access::Image::first;
    while (mask) {  // the lanes that access one image
        const auto lane = unsigned(std::countr_zero(mask));
        const std::uint64_t handle = lanes.handle(lane);
        const Texture* const image = block_.memory->textures().find(handle);
        std::uint64_t addresses[TextureReads::most][lanes_per_warp];
        std::uint32_t reading[TextureReads::most] = {};
        const std::uint32_t others = mask;
        for_each_lane(others, [&](unsigned lane) {
            if (lanes.handle(lane) != handle) return;
            mask &= ~(1u << lane);
            if (!image) return;
            const TextureReads reads = i->operation == Operation::tex ? lanes.reads(lane, *image)
                                                                      : lanes.bytes(lane, *image);
            for (unsigned k = 0; k < reads.count; ++k) {
                addresses[k][lane] = reads.elements[k].address;
                reading[k] |= 1u << lane;
            }
        });
        for (unsigned k = 0; k < TextureReads::most && reading[k]; ++k) {
            Access access = access_of(i, warp, addresses[k]);
            access.mask = reading[k];
            access.same_address = false;
            access.image = std::exchange(part, Access::Image::further);
            if (i->operation == Operation::tex) access.bytes = image->element_bytes();
            global_access(access);
        }
    }
}

// A shared access of all lanes, lane 0 among them, to one address: the most frequent one in inner
// loops.
void BlockEvents::uniform_shared_access(const Instruction* i, const Warp& warp) {
    const InstructionInfo& info = block_.kernel->lines[block_.kernel->index_of(i)];
    const std::uint32_t operand = i->operands[info.address_operand];
    const std::uint64_t address =
        std::uint32_t(warp.get<std::uint32_t>(operand, 0) + std::uint32_t(i->immediate));
    own_shared_access(access_of(i, warp, &address));
}

// First the lanes whose address is in global memory, then those in shared memory.
void BlockEvents::generic_access(Access& access, std::uint64_t* addresses) {
    std::uint32_t in_shared = 0, in_global = 0;
    for (std::uint32_t lanes = access.mask; lanes; lanes &= lanes - 1) {
        const auto lane = unsigned(std::countr_zero(lanes));
        const std::uint64_t address = access.address(lane);
        if (address - shared_window < window_size) {
            in_shared |= 1u << lane;
        } else if (address - local_window >= window_size && address - param_window >= window_size) {
            in_global |= 1u << lane;
        }
    }
    if (in_global) {
        access.mask = in_global;
        global_access(access);
    }
    if (!in_shared) return;
    access.mask = in_shared;
    shared_access_in_cluster(access, addresses);
}

// First the lanes that access the own block.
void BlockEvents::shared_access_in_cluster(Access& access, std::uint64_t* addresses) {
    std::uint32_t own = 0, others = 0;
    const std::uint32_t all = access.mask;
    for_each_lane(access.same_address ? all & (0 - all) : all, [&](unsigned lane) {
        const SharedPlace place = shared_place(block_, addresses[lane]);
        if (place.block == &block_) addresses[lane] = place.offset;
        if (place.block) (place.block == &block_ ? own : others) |= 1u << lane;
    });
    if (access.same_address) own ? own = all : others = others ? all : 0;
    if (own) {
        access.mask = own;
        own_shared_access(access);
    }
    if (!others || !in_cluster_) return;
    access.mask = others;
    told_->on_cluster_access(access);
}

void BlockEvents::cluster_access(const Access& access, std::uint32_t rank) {
    std::uint64_t addresses[lanes_per_warp];
    const std::uint32_t all = access.mask;
    for_each_lane(access.same_address ? all & (0 - all) : all, [&](unsigned lane) {
        addresses[lane] = address_in_cluster(access.lane_addresses[lane], rank);
    });
    Access in_cluster = access;
    in_cluster.lane_addresses = addresses;
    told_->on_cluster_access(in_cluster);
}

void BlockEvents::on_async(const AsyncEvent& event) {
    if (event.kind == AsyncEvent::copy_started) {
        const AsyncCopy& copy = *event.copy;
        copy_accesses(event, false, copy.from_shared);
        copy_accesses(event, true, copy.to_shared);
    }
    observer_.on_async(block_.block, event);
}

void BlockEvents::copy_accesses(const AsyncEvent& event, bool destinations, bool shared) {
    if (!(wanted_ & (shared ? Instruction::shared_access : Instruction::global_access))) return;
    const int rank = destinations ? event.copy->to_rank : -1;
    for_accesses(*event.copy, event.copy->parts, destinations, event.state, [&](const Access& a) {
        if (rank >= 0) return cluster_access(a, std::uint32_t(rank));
        shared ? observer_.on_shared_access(a) : observer_.on_global_access(a);
        if (shared && in_cluster_) cluster_access(a, block_.rank);
    });
}

void BlockEvents::complete_warp_syncs(Warp& warp) {
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
    arrival({block_.block, warp.index, lanes, live, block_.kernel->index_of(i), barrier, expected,
             BarrierKind(i->detail) != BarrierKind::arrive});
}

void BlockEvents::tell_release(unsigned barrier, std::uint32_t completed) {
    release({block_.block,
             barrier,
             completed,
             block_.live_threads,
             {block_.shared, block_.shared_bytes}});
}

}  // namespace warpscope::emulator
