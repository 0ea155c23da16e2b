#include "emulator/fast_paths/alike/rehearsal.h"

#include <algorithm>
#include <bit>

#include "emulator/ptx/opcodes.h"
#include "emulator/warp/float_mode.h"

namespace warpscope::emulator {

void SharedNotes::add(Threads& to, std::uint32_t thread) const {
    const std::uint32_t warp = thread / 32;
    if (to.interval != interval_)
        to = {interval_, thread, warp, syncs_[warp]};
    else if (to.warp == warp)
        to = {interval_, to.thread == thread ? thread : several, warp, syncs_[warp]};
    else
        to = {interval_, several, several, 0};
}

bool SharedNotes::read(std::uint32_t word, std::uint32_t thread) {
    Word& w = words_[word];
    if (!are_ordered(w.writers, thread)) return false;
    add(w.readers, thread);
    return true;
}

// All earlier accesses are ordered before this write, so the write stands for the writers.
bool SharedNotes::write(std::uint32_t word, std::uint32_t thread) {
    Word& w = words_[word];
    if (!are_ordered(w.writers, thread) || !are_ordered(w.readers, thread)) return false;
    w.writers.interval = 0;
    add(w.writers, thread);
    return true;
}

void GlobalNotes::store(std::uint32_t pc, std::uint64_t address, std::uint32_t thread) {
    by_several_ |= !stores_.empty() && pc_ != pc;
    pc_ = pc;
    stores_.push_back({std::uint32_t(address), thread});
}

const char* GlobalNotes::end_interval() {
    const char* obstacle = nullptr;
    if (!stores_.empty()) {
        const auto by_address = [](const Store& a, const Store& b) {
            return a.address < b.address || (a.address == b.address && a.thread < b.thread);
        };
        const auto meet = [](const Store& a, const Store& b) {
            return a.address == b.address && a.thread != b.thread;
        };
        if (!std::is_sorted(stores_.begin(), stores_.end(), by_address))
            std::sort(stores_.begin(), stores_.end(), by_address);
        if (loads_)
            obstacle = "global memory is read and written between two barriers";
        else if (by_several_)
            obstacle = "several instructions write global memory between two barriers";
        else if (std::adjacent_find(stores_.begin(), stores_.end(), meet) != stores_.end())
            obstacle = "threads write one address of global memory";
    }
    stores_.clear();
    by_several_ = loads_ = false;
    return obstacle;
}

namespace {

using Action = BlockLikeness::Action;

/// Ends a rehearsal.
struct Obstacle {
    const char* why;
};

std::uint64_t address_in(const Instruction* i, const Warp& warp, unsigned operand, unsigned lane) {
    if (AccessForm(i->target).wide_address)
        return warp.get<std::uint64_t>(i->operands[operand], lane) + std::uint64_t(i->immediate);
    return warp.get<std::uint32_t>(i->operands[operand], lane) + std::uint32_t(i->immediate);
}

/// Lanes that some, and that all, of the running lanes name in their member masks.
struct Named {
    std::uint32_t by_some = 0, by_all = all_lanes;
};

Named members_of(const Instruction* i, const Warp& warp) {
    const unsigned operand = i->role == Role::warp_barrier     ? 0
                             : i->operation == Operation::shfl ? 5
                                                               : 2;
    Named named;
    for (std::uint32_t lanes = warp.mask; lanes; lanes &= lanes - 1) {
        const auto members =
            warp.get<std::uint32_t>(i->operands[operand], unsigned(std::countr_zero(lanes)));
        named.by_some |= members;
        named.by_all &= members;
        if (is_uniform(i->operands[operand])) break;
    }
    return named;
}

}  // namespace

Rehearsal::Rehearsal(const FrozenLaunch& launch, const BlockLikeness& likeness,
                     const Memory& memory, const LaunchSettings& settings, Budget& budget,
                     std::uint64_t most_steps)
    : BlockRunner(*launch.kernel, launch.launch, memory, launch.arguments, settings, budget),
      likeness_(likeness),
      warp_syncs_(block_.warps.size()),
      apart_(block_.warps.size()),
      executions_(kernel_.code.size()),
      shared_(block_.context.shared_bytes, warp_syncs_),
      written_((block_.context.shared_bytes + 3) / 4),
      most_steps_(most_steps) {}

std::string Rehearsal::run() {
    const FloatMode mode(kernel_.flush_subnormals);
    try {
        begin(0, 0, 1, nullptr, nullptr);
        while (Warp* warp = scheduler_.begin_turn(block_)) {
            run_turn(*warp);
            end_turn(*warp);
        }
        end_block();
        end_interval();
        check_uncertain();
    } catch (const Obstacle& found) {
        return found.why;
    }
    return {};
}

void Rehearsal::run_turn(Warp& warp) {
    for (const Instruction* i = enter_split(warp); i; i = enter_split(warp)) {
        do i = step(i, warp);
        while (i);
        if (warp.outcome == Warp::Outcome::at_barrier) arrive_at_barrier(warp);
        const std::uint32_t before = block_.completed_barriers;
        const bool goes_on = leave_split(warp);
        if (block_.completed_barriers != before) end_interval();
        if (!goes_on) return;
    }
}

const Instruction* Rehearsal::step(const Instruction* i, Warp& warp) {
    ++steps_;
    if (gave_up()) throw Obstacle{"the block is too long to be rehearsed"};
    const BlockLikeness::Place& place = likeness_.places[pc_of(i)];
    if (place.loads_before_join) global_.load();
    switch (place.action) {
        case Action::skip:
            return kernel_.code.data() + place.next;
        case Action::execute:
        case Action::execute_unknown:
            return execute(i, warp);
        case Action::go_to_join:
            return go_to_join(i, warp, place.next);
        case Action::access_shared:
            note_shared(i, warp);
            break;
        case Action::store_global:
            note_store(i, warp);
            break;
        case Action::load_global:
            global_.load();
            break;
        case Action::exchange:
            exchange(i, warp);
            break;
        case Action::sync_warp:
            sync_warp(i, warp);
            break;
    }
    return i + 1;
}

const Instruction* Rehearsal::execute(const Instruction* i, Warp& warp) {
    const Instruction* next = i->handlers[warp.mode](i, warp);
    if (warp.splits.size() > 1)
        apart_[warp.index] = true;
    else if (i->role == Role::join && warp.mask == warp.threads)
        apart_[warp.index] = false;
    return next;
}

const Instruction* Rehearsal::go_to_join(const Instruction* i, Warp& warp, std::uint32_t join) {
    warp.left -= i->cost;
    if (join == BlockLikeness::no_join) return warp.exit_lanes();
    const Instruction* next = kernel_.code.data() + join;
    return warp.left > 0 ? next : warp.pause(next);
}

void Rehearsal::arrive_at_barrier(const Warp& warp) {
    const std::uint32_t pc = pc_of(warp.stopped_at);
    if (warp.mask != warp.threads) throw Obstacle{"some lanes of a warp come to a barrier alone"};
    if (waits_ && pc != barrier_at_) throw Obstacle{"warps wait at different barriers"};
    waits_ = true;
    barrier_at_ = pc;
    apart_[warp.index] = false;
}

void Rehearsal::end_interval() {
    waits_ = false;
    shared_.next_interval();
    if (const char* obstacle = global_.end_interval()) throw Obstacle{obstacle};
}

void Rehearsal::exchange(const Instruction* i, const Warp& warp) {
    if (apart_[warp.index]) throw Obstacle{"lanes exchange values while others run elsewhere"};
    if (!warp.has_all(members_of(i, warp).by_some))
        throw Obstacle{"an exchange waits for other lanes"};
}

void Rehearsal::sync_warp(const Instruction* i, const Warp& warp) {
    exchange(i, warp);
    if (warp.mask == warp.threads && (warp.threads & ~members_of(i, warp).by_all) == 0)
        ++warp_syncs_[warp.index];
}

void Rehearsal::note_shared(const Instruction* i, const Warp& warp) {
    const std::uint32_t operand = kernel_.lines[pc_of(i)].address_operand;
    count_uncertain(i, warp);
    std::uint32_t lanes = warp.mask;
    // Where all lanes have one address, two of them stand for all.
    if (is_uniform(i->operands[operand]) && (lanes & (lanes - 1)))
        lanes = (lanes & (0 - lanes)) | std::bit_floor(lanes);
    for (; lanes; lanes &= lanes - 1) note_word(i, warp, unsigned(std::countr_zero(lanes)));
}

void Rehearsal::note_word(const Instruction* i, const Warp& warp, unsigned lane) {
    const InstructionInfo& info = kernel_.lines[pc_of(i)];
    const std::uint64_t address = address_in(i, warp, info.address_operand, lane);
    const std::uint64_t size = block_.context.shared_bytes;
    if (address > size || size - address < info.bytes || address % info.bytes)
        throw Obstacle{"an address of shared memory is not valid"};
    const std::uint32_t thread = warp.index * lanes_per_warp + lane;
    for (std::uint64_t word = address / 4; word * 4 < address + info.bytes; ++word) {
        if (!(info.access == MemoryAccess::store ? shared_.write(std::uint32_t(word), thread)
                                                 : shared_.read(std::uint32_t(word), thread)))
            throw Obstacle{"threads use one word of shared memory without a barrier between"};
        note_leftovers(i, word);
    }
}

void Rehearsal::note_leftovers(const Instruction* i, std::uint64_t word) {
    const InstructionInfo& info = kernel_.lines[pc_of(i)];
    if (info.access != MemoryAccess::store) {
        if (!written_[word]) leftovers_ = "a thread reads shared memory that no thread has written";
    } else if (!likeness_.places[pc_of(i)].access.certain) {
        leftovers_ = "an unknown branch may skip a store to shared memory";
    } else if (info.bytes >= 4) {
        written_[word] = true;
    }
}

void Rehearsal::note_store(const Instruction* i, const Warp& warp) {
    const InstructionInfo& info = kernel_.lines[pc_of(i)];
    count_uncertain(i, warp);
    for (std::uint32_t lanes = warp.mask; lanes; lanes &= lanes - 1) {
        const auto lane = unsigned(std::countr_zero(lanes));
        const std::uint64_t address = address_in(i, warp, info.address_operand, lane);
        if (address % info.bytes) throw Obstacle{"an address of global memory is not aligned"};
        global_.store(pc_of(i), address, warp.index * lanes_per_warp + lane);
    }
}

void Rehearsal::count_uncertain(const Instruction* i, const Warp& warp) {
    if (!likeness_.places[pc_of(i)].access.certain) executions_[pc_of(i)] += lane_count(warp.mask);
}

void Rehearsal::check_uncertain() const {
    for (std::uint32_t pc = 0; pc < kernel_.code.size(); ++pc) {
        const BlockLikeness::Place& place = likeness_.places[pc];
        const bool is_noted =
            place.action == Action::access_shared || place.action == Action::store_global;
        if (is_noted && !place.access.certain && executions_[pc] != launch_.block.count())
            throw Obstacle{"some threads of the first block do not execute an uncertain access"};
    }
}

}  // namespace warpscope::emulator
