#include "emulator/stepper/step_recorder.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "emulator/program/lanes.h"
#include "emulator/program/module.h"
#include "emulator/warp/cluster.h"
#include "emulator/warp/memory.h"
#include "emulator/warp/warp.h"

namespace warpscope::emulator {

void UndoLog::save(const Access& access) {
    if (access.kind == MemoryAccess::load) return;
    // Neighbouring lanes with consecutive addresses become one entry.
    std::uint64_t begin = 0, end = 0;
    for (std::uint32_t lanes = access.mask; lanes; lanes &= lanes - 1) {
        const std::uint64_t address = access.address(unsigned(std::countr_zero(lanes)));
        if (address >= begin && address + access.bytes <= end) continue;
        if (!find_global(memory_, *kernel_.module, address, access.bytes)) continue;
        if (address != end) {
            save(begin, end - begin);
            begin = address;
        }
        end = address + access.bytes;
    }
    save(begin, end - begin);
}

void UndoLog::save(std::uint64_t address, std::size_t bytes) {
    if (!bytes) return;
    const std::size_t at = done_ ? entries_[done_ - 1].at + entries_[done_ - 1].bytes : 0;
    const Entry entry{address, bytes, at};
    if (done_ == entries_.size() || entries_[done_] != entry) {
        forget_undone();
        entries_.push_back(entry);
        bytes_.resize(at + bytes);
    }
    std::memcpy(bytes_.data() + at, reinterpret_cast<const void*>(address), bytes);
    ++done_;
}

void UndoLog::forget_undone() {
    entries_.resize(done_);
    bytes_.resize(done_ ? entries_.back().at + entries_.back().bytes : 0);
}

void UndoLog::swap(const Entry& entry) {
    std::byte* stored = bytes_.data() + entry.at;
    std::swap_ranges(stored, stored + entry.bytes, reinterpret_cast<std::byte*>(entry.address));
}

void UndoLog::move_to(std::size_t mark) {
    mark = std::min(mark, entries_.size());
    while (done_ > mark) swap(entries_[--done_]);
    while (done_ < mark) swap(entries_[done_++]);
}

StepRecorder::StepRecorder(const Memory& memory, const FrozenLaunch& launch, std::uint32_t block)
    : undo(memory, *launch.kernel),
      launch_(launch),
      block_(block),
      rank_(ClusterPlace::of(launch.launch, block).rank),
      cluster_(ClusterPlace::of(launch.launch, block).cluster) {
    observed.tiles.resize(std::size_t(launch.launch.cluster.count()));
}

void StepRecorder::on_block_begin(const Kernel& kernel, std::uint32_t block) {
    const std::uint32_t bytes = kernel.shared_bytes + launch_.launch.dynamic_shared_bytes;
    if (Observations::Tile* const tile = tile_of(block)) tile->words.assign((bytes + 3) / 4, {});
    if (!is_stepped(block)) return;
    const auto warps =
        std::size_t((launch_.launch.block.count() + lanes_per_warp - 1) / lanes_per_warp);
    observed.shared.assign(warps, {});
    observed.global.assign(warps, {});
    observed.races.on_launch(kernel, launch_.launch);
    observed.races.on_block_begin(kernel, block);
    observed.barriers.on_launch(kernel, launch_.launch);
    observed.barriers.on_block_begin(kernel, block);
}

void StepRecorder::begin_step(std::uint64_t step) {
    step_ = step;
    timeline.begin_step(step);
}

void StepRecorder::forget_from(std::uint64_t position) {
    undo.forget_undone();
    timeline.forget_from(position);
}

int StepRecorder::rank_of(std::uint32_t block, std::uint32_t from) const {
    const std::uint32_t rank = ClusterPlace::of(launch_.launch, block).rank;
    return rank == from ? -1 : int(rank);
}

Observations::Tile* StepRecorder::tile_of(std::uint32_t block) {
    const ClusterPlace at = ClusterPlace::of(launch_.launch, block);
    return begun_ && at.cluster == cluster_ ? &observed.tiles[at.rank] : nullptr;
}

AccessView StepRecorder::view(const Access& access) const {
    AccessView v{.step = step_,
                 .warp = access.warp,
                 .mask = access.mask,
                 .pc = access.pc,
                 .bytes = access.bytes,
                 .kind = access.kind};
    for (std::uint32_t m = access.mask; m; m &= m - 1) {
        const auto lane = unsigned(std::countr_zero(m));
        v.addresses[lane] = access.address(lane);
    }
    return v;
}

void StepRecorder::update_words(const Access& access, std::uint32_t rank, std::uint64_t address,
                                unsigned lane) {
    const auto thread = std::int32_t(access.warp * lanes_per_warp + lane);
    const auto from = std::int8_t(rank_of(access.block, rank));
    Observations::Tile& tile = observed.tiles[rank];
    for (std::uint64_t w = address / 4; w <= (address + access.bytes - 1) / 4; ++w) {
        if (w >= tile.words.size()) return;  // an invalid access: the instruction will fail
        WordView& word = tile.words[w];
        if (access.kind != MemoryAccess::load) {
            word.writer = thread;
            word.writer_rank = from;
            word.write_epoch = tile.epoch;
            word.write_pc = access.pc;
            word.is_read = false;
            if (word.copy == WordView::Copy::landed) word.copy = WordView::Copy::none;
        }
        if (access.kind != MemoryAccess::store) {
            word.reader = thread;
            word.reader_rank = from;
            word.read_epoch = tile.epoch;
            word.read_pc = access.pc;
            word.is_read = true;
        }
    }
}

void StepRecorder::on_shared_access(const Access& access) {
    if (!tile_of(access.block)) return;
    // If all lanes have one address, the highest lane counts as the newest. An asynchronous copy
    // writes when it lands.
    const bool lands = access.asynchronous && access.kind == MemoryAccess::store;
    std::uint32_t lanes = lands ? 0 : access.mask;
    if (access.same_address) lanes = std::bit_floor(lanes);
    const std::uint32_t rank = ClusterPlace::of(launch_.launch, access.block).rank;
    for_each_lane(lanes,
                  [&](unsigned lane) { update_words(access, rank, access.address(lane), lane); });
    if (!is_stepped(access.block)) return;
    if (also_told) also_told->on_shared_access(access);
    observed.shared[access.warp] = view(access);
    observed.races.on_shared_access(access);
}

void StepRecorder::on_global_access(const Access& access) {
    if (!access.asynchronous) undo.save(access);
    if (!is_stepped(access.block)) return;
    if (also_told) also_told->on_global_access(access);
    observed.global[access.warp] = view(access);
    observed.races.on_global_access(access);
}

// Accesses of a block to its own shared memory are told by on_shared_access() too.
void StepRecorder::on_cluster_access(const Access& access) {
    if (!tile_of(access.block)) return;
    if (access.block != block_) observed.races.on_cluster_access(access);
    if (access.asynchronous) return;
    for_each_lane(access.mask, [&](unsigned lane) {
        const std::uint64_t address = access.address(lane);
        const std::uint32_t rank = rank_in_cluster(address);
        if (rank_of(access.block, rank) >= 0)
            update_words(access, rank, offset_in_cluster(address), lane);
    });
}

void StepRecorder::on_barrier_arrival(const BarrierArrival& a) {
    if (!is_stepped(a.block)) return;
    observed.races.on_barrier_arrival(a);
    observed.barriers.on_barrier_arrival(a);
    if (a.waits) timeline.begin_wait(a.warp, a.mask, a.pc, BarrierWait::At::barrier, a.barrier);
}

void StepRecorder::on_barrier_release(const BarrierRelease& r) {
    if (Observations::Tile* const tile = tile_of(r.block)) tile->epoch = r.completed_barriers + 1;
    if (!is_stepped(r.block)) return;
    observed.races.on_barrier_release(r);
    observed.barriers.on_barrier_release(r);
    timeline.release(r.barrier);
}

void StepRecorder::on_warp_sync(std::uint32_t block, std::uint32_t warp, std::uint32_t members) {
    if (is_stepped(block)) observed.races.on_warp_sync(block, warp, members);
}

void StepRecorder::on_fence(std::uint32_t block, std::uint32_t warp, std::uint32_t mask,
                            Fence fence) {
    if (is_stepped(block)) observed.races.on_fence(block, warp, mask, fence);
}

void StepRecorder::on_async(std::uint32_t block, const AsyncEvent& event) {
    if (event.kind == AsyncEvent::copy_lands) note_landing(block, event);
    if (!begun_) return;
    if (event.kind == AsyncEvent::copy_started) note_start(block, event);
    if (event.kind == AsyncEvent::arrived_elsewhere) note_remote_arrival(block, event);
    if (block != block_) return;
    on_own_async(event);
    if (also_told) also_told->on_async(block, event);
}

void StepRecorder::on_own_async(const AsyncEvent& event) {
    using At = BarrierWait::At;
    observed.races.on_async(block_, event);
    const std::uint32_t mbarrier = event.barrier ? event.barrier->address : 0;
    if (event.kind == AsyncEvent::looked)
        timeline.look(event.warp, event.lanes, event.pc, event.barrier ? At::mbarrier : At::cluster,
                      mbarrier);
    if (event.kind == AsyncEvent::phase_seen)
        timeline.end_looking(event.warp, At::mbarrier, mbarrier);
    if (event.kind == AsyncEvent::cluster_waited) timeline.end_looking(event.warp, At::cluster, 0);
}

void StepRecorder::note_remote_arrival(std::uint32_t block, const AsyncEvent& event) {
    const bool from_here = block == block_;
    if (!from_here && event.rank != rank_) return;
    timeline.mark(
        {.kind = from_here ? BlockMark::arrival_at_other : BlockMark::arrival_from_other,
         .rank = from_here ? event.rank : std::uint32_t(rank_of(block)),
         .thread = event.warp * lanes_per_warp + std::uint32_t(std::countr_zero(event.lanes)),
         .mbarrier = event.barrier->address,
         .phase = event.barrier->phase});
}

// The rank of the block whose shared memory a copy writes that `block` has started.
std::uint32_t StepRecorder::rank_written(std::uint32_t block, const AsyncCopy& copy) const {
    return copy.to_rank < 0 ? ClusterPlace::of(launch_.launch, block).rank
                            : std::uint32_t(copy.to_rank);
}

void StepRecorder::note_start(std::uint32_t block, const AsyncEvent& event) {
    const AsyncCopy& copy = *event.copy;
    const std::uint32_t to = rank_written(block, copy);
    if (copy.to_shared && tile_of(block))
        copy.for_words(copy.parts, [&](std::uint64_t address) {
            if (address / 4 >= observed.tiles[to].words.size()) return;
            WordView& word = observed.tiles[to].words[address / 4];
            word.copy = WordView::Copy::in_flight;
            word.copy_rank = std::int8_t(rank_of(block, to));
            word.copy_number = copy.number;
        });
    const bool here = copy.to_shared && tile_of(block) && to == rank_;
    if (block != block_ && !here) return;
    const auto first = unsigned(std::countr_zero(copy.parts));
    CopyFlight flight{.number = copy.number,
                      .rank = rank_of(block),
                      .warp = copy.warp,
                      .pc = copy.pc,
                      .lane = copy.lane,
                      .bytes = copy.bytes_of(copy.parts),
                      .completion = copy.completion,
                      .group = copy.group[first % 32],
                      .mbarrier = copy.mbarrier,
                      .mbarrier_rank = copy.mbarrier_rank,
                      .to_shared = copy.to_shared,
                      .to_stepped = here};
    if (copy.completion == Completion::mbarrier) {
        const BlockContext& own = *event.state->block;
        AsyncCopies& counting = copy.mbarrier_rank < 0
                                    ? *own.async
                                    : *own.cluster->block(std::uint32_t(copy.mbarrier_rank)).async;
        if (const Mbarrier* const found = counting.mbarriers().find(copy.mbarrier))
            flight.phase = found->phase;
    }
    timeline.begin_copy(flight);
}

void StepRecorder::note_landing(std::uint32_t block, const AsyncEvent& event) {
    const AsyncCopy& copy = *event.copy;
    if (!copy.to_shared)
        for_each_lane(event.parts,
                      [&](unsigned part) { undo.save(copy.to[part], copy.bytes[part]); });
    if (!tile_of(block)) return;
    if (copy.parts == event.parts) timeline.end_copy(rank_of(block), copy.number);
    if (!copy.to_shared) return;
    const std::uint32_t to = rank_written(block, copy);
    Observations::Tile& tile = observed.tiles[to];
    for_each_lane(event.parts, [&](unsigned part) {
        copy.for_words(1u << part, [&](std::uint64_t address) {
            WordView& word = tile.words[address / 4];
            word.writer = std::int32_t(copy.warp * lanes_per_warp + copy.lane_of(part));
            word.writer_rank = std::int8_t(rank_of(block, to));
            word.write_epoch = tile.epoch;
            word.write_pc = copy.pc;
            word.is_read = false;
            if (word.copy_number == copy.number && word.copy_rank == word.writer_rank)
                word.copy = WordView::Copy::landed;
        });
    });
}

void StepRecorder::on_error(std::uint32_t block, const Error& error) {
    if (begun_) observed.barriers.on_error(block, error);
}

}  // namespace warpscope::emulator
