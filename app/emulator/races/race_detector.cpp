#include "emulator/races/race_detector.h"

#include <algorithm>
#include <utility>

#include "emulator/happens_before/block_clocks.h"
#include "emulator/observe/copy_accesses.h"
#include "emulator/ptx/opcodes.h"
#include "emulator/races/race_rule.h"
#include "emulator/races/streaming_load.h"
#include "emulator/warp/cluster.h"

namespace warpscope::emulator {

namespace {

/// Stands for the address of an mbarrier.
constexpr std::uint32_t barrier_of_cluster = ~0u;

}  // namespace

std::unique_ptr<Observer> RaceDetector::fork() {
    auto fork = std::make_unique<RaceDetector>(*this);
    fork->report_.become_fork();
    return fork;
}

void RaceDetector::join(Observer& fork) {
    report_.join(dynamic_cast<RaceDetector&>(fork).report_);
}

void RaceDetector::on_launch(const Kernel& kernel, const LaunchShape& launch) {
    const std::uint32_t shared_bytes = kernel.shared_bytes + launch.dynamic_shared_bytes;
    orders_.begin_launch(kernel);
    others_.clear();
    block_ = 0;
    report_.begin_launch(kernel, launch, shared_bytes, orders_.words_are_seen());
    now_->order.begin_launch(report_.threads(), orders_.have_clocks(),
                             kernel.has_mbarriers || kernel.uses_cluster,
                             orders_.words_are_observed());
    now_->shared.begin_launch(kernel, orders_, Space::shared, shared_bytes);
    now_->global.begin_launch(kernel, orders_, Space::global, 0);
    now_->proxies.begin_launch(kernel, shared_bytes);
    const std::size_t warps = (report_.threads() + lanes_per_warp - 1) / lanes_per_warp;
    for (RaceCells* cells : {&now_->shared, &now_->global})
        cells->events().begin_launch(warps, kernel.code.size());
}

void RaceDetector::on_launch_end() {
    if (!heat_) return;
    heat_->add_races(Space::shared, report_.shared_hazards());
    heat_->add_races(Space::global, report_.global_hazards());
}

void RaceDetector::on_block_begin(const Kernel&, std::uint32_t block) {
    block_ = block;
    report_.begin_block(block);
    if (others_.empty()) report_.flags().clear();
    now_->order.begin_block();
    now_->shared.begin_block();
    now_->global.begin_block();
    now_->window.clear();
    now_->waiting.clear();
    now_->async.begin_block();
    now_->proxies.begin_block(now_->order.clocks());
    now_->may_wait = true;
    now_->epoch = now_->order.epoch();
    now_->is_spoiled = now_->has_no_races = now_->has_ended = false;
    now_->cluster_phases = 0;
}

void RaceDetector::on_block_end(std::uint32_t, const Statistics&) {
    now_->async.end_block(report_);
    now_->has_ended = true;
}

void RaceDetector::on_block_turn(std::uint32_t block) {
    report_.begin_block(block);
    if (block == block_) return;
    const bool goes_on = !now_->has_ended;
    auto next = others_.extract(block);
    if (next) {
        std::swap(now_, next.mapped());
        next.key() = block_;
        if (goes_on) others_.insert(std::move(next));
    } else if (goes_on) {  // a block that begins clears what it gets
        others_.emplace(block_, now_);
    }
    block_ = block;
}

// A block writes to the shared memory of another one, which may read it then.
void RaceDetector::on_cluster_access(const Access& a) {
    if (a.kind == MemoryAccess::load) return;
    const LaunchShape& launch = report_.launch();
    const ClusterPlace own = ClusterPlace::of(launch, a.block);
    for_each_lane(a.mask, [&](unsigned lane) {
        const std::uint64_t address = a.address(lane);
        const std::uint32_t rank = rank_in_cluster(address);
        const std::uint32_t block = ClusterPlace{own.cluster, rank}.block(launch);
        const auto other = others_.find(block);
        if (block == a.block || (block != block_ && other == others_.end())) return;
        RaceCells& cells = block == block_ ? now_->shared : other->second->shared;
        const std::uint32_t first = cells.index_of(offset_in_cluster(address));
        for (std::uint32_t k = 0; k < std::max(1u, cells.count(a.bytes)); ++k)
            cells.set_written(first + k);
    });
}

void RaceDetector::on_shared_access(const Access& a) {
    if (now_->has_no_races || a.asynchronous) return;
    now_->is_spoiled |= orders_.is_strong(a.pc);
    if (report_.flags().are_polled()) report_.flags().access(a, report_.party_of(a.warp));
    now_->async.check(a, Space::shared, now_->order, now_->shared, report_);
    // What an mbarrier orders is told by its phases (on_async), not by the word that counts.
    const auto operation = [&] { return report_.kernel().code[a.pc].operation; };
    if (now_->proxies.is_needed() && a.kind != MemoryAccess::load &&
        (operation() == Operation::mbarrier_init || !uses_mbarrier(operation())))
        now_->proxies.store(a, now_->order.clocks());
    if (a.kind == MemoryAccess::load && a.same_address && now_->shared.needs_no_record(a)) return;
    RaceRule(a, orders_, now_->order, now_->shared, report_).run();
    if (now_->order.by_words() && !uses_mbarrier(operation())) follow_words(a);
}

void RaceDetector::on_broadcasts(std::span<const BroadcastLoad> loads) {
    const std::vector<InstructionInfo>& lines = report_.kernel().lines;
    for (const BroadcastLoad& load : loads)
        if (!now_->shared.record_broadcast(load.warp->index, load.pc, load.address,
                                           lines[load.pc].bytes))
            on_shared_access(access_of(load));
}

void RaceDetector::on_global_access(const Access& a) {
    if (now_->has_no_races) return;
    now_->is_spoiled |= orders_.is_strong(a.pc);
    if (now_->proxies.is_needed() && a.kind != MemoryAccess::load && !a.asynchronous)
        now_->proxies.store_global(a, now_->order.clocks());
    if (report_.flags().are_polled()) report_.flags().access(a, report_.party_of(a.warp));
    now_->async.check(a, Space::global, now_->order, now_->shared, report_);
    if (can_wait(a)) {
        now_->waiting.push_back(
            {a.lane_addresses[0], now_->global.begin_access(a, now_->order).event});
        return;
    }
    check_waiting();
    check_global(a, 0);
    if (now_->order.by_words()) follow_words(a);
}

bool RaceDetector::can_wait(const Access& a) const {
    constexpr std::size_t most_waiting = 1 << 20;  // 16 MiB
    return now_->may_wait && !a.asynchronous && !orders_.is_strong(a.pc) &&
           now_->waiting.size() < most_waiting && !now_->global.events().is_full() &&
           is_streaming_load(a);
}

void RaceDetector::check_waiting() {
    now_->may_wait = false;
    for (const auto& [first, event] : now_->waiting) {
        const AccessEvent by = now_->global.events()[event];
        check_global(StreamingLoad(report_.kernel(), 0, by.warp, by.pc, first).access(), event);
    }
    now_->waiting.clear();
}

void RaceDetector::check_global(const Access& a, std::uint32_t event) {
    if (now_->window.bytes() >> now_->global.shift() > RaceCells::most_at_once) {
        now_->global.forget();
        now_->window.clear();
        now_->is_spoiled = true;
    }
    const Access placed = now_->window.place(a);
    now_->global.resize(now_->window.bytes());
    if (a.kind != MemoryAccess::load || !a.same_address || !now_->global.needs_no_record(placed))
        RaceRule(placed, orders_, now_->order, now_->global, report_, &now_->window, event).run();
}

void RaceDetector::on_async(std::uint32_t block, const AsyncEvent& event) {
    // The turn of one block may end a phase of another block's mbarrier.
    if (const std::uint32_t now = block_; block != now) {
        on_block_turn(block);
        on_async(block, event);
        return on_block_turn(now);
    }
    ThreadClocks& clocks = now_->order.clocks();
    switch (event.kind) {
        case AsyncEvent::copy_started:
            return start_copy(event);
        case AsyncEvent::copy_lands:
            if (event.copy->mbarrier_rank >= 0) return;
            [[fallthrough]];
        case AsyncEvent::copies_arrived:
            return now_->async.count(event, clocks);
        case AsyncEvent::groups_ended:
            separate(event.warp);
            return now_->async.end_groups(event, now_->shared, [&](const Access& access) {
                RaceRule(access, orders_, now_->order, now_->shared, report_).check_copy(true);
            });
        case AsyncEvent::arrived_elsewhere:
            return;  // orders blocks: see GridRaces
        case AsyncEvent::cluster_arrived:
            clocks.arrive_at_mbarrier(barrier_of_cluster, event.warp, event.lanes);
            return separate(event.warp);
        case AsyncEvent::cluster_waited:
            return wait_for_cluster(event);
        case AsyncEvent::arrived:
            clocks.arrive_at_mbarrier(event.barrier->address, event.warp, event.lanes);
            return separate(event.warp);
        case AsyncEvent::proxy_fence:
            if (!now_->order.by_words()) return;
            now_->proxies.fence(clocks, event.warp, event.lanes, event.space);
            clocks.advance(event.warp);
            return separate(event.warp);
        case AsyncEvent::looked:
            return;
        case AsyncEvent::phase_ended:
            return clocks.end_phase(event.barrier->address);
        case AsyncEvent::phase_seen:
            return clocks.see_phase(event.barrier->address, event.warp, event.lanes,
                                    event.barrier->phase);
    }
}

// The barrier of the cluster orders the threads of a block as an mbarrier of the block does.
void RaceDetector::wait_for_cluster(const AsyncEvent& event) {
    ThreadClocks& clocks = now_->order.clocks();
    if (now_->cluster_phases == event.phase) {
        clocks.end_phase(barrier_of_cluster);
        ++now_->cluster_phases;
    }
    clocks.see_phase(barrier_of_cluster, event.warp, event.lanes, now_->cluster_phases);
}

// The accesses to global memory have been told as accesses. Those to shared memory are compared
// here: the store is one of the thread only when the thread has waited.
void RaceDetector::start_copy(const AsyncEvent& event) {
    const AsyncCopy& copy = *event.copy;
    if (copy.from_shared)
        for_accesses(copy, copy.parts, false, event.state, [&](const Access& a) {
            now_->async.check(a, Space::shared, now_->order, now_->shared, report_);
            RaceRule(a, orders_, now_->order, now_->shared, report_).run();
        });
    if (copy.to_shared && copy.to_rank < 0)
        for_accesses(copy, copy.parts, true, event.state, [&](const Access& a) {
            RaceRule(a, orders_, now_->order, now_->shared, report_).check_copy(false);
        });
    if (now_->proxies.is_needed()) now_->proxies.check(event, report_);
    // Only threads of the other block see when it has ended.
    if (copy.to_rank >= 0 || copy.mbarrier_rank >= 0) return;
    now_->async.start(event, now_->order, now_->shared, report_);
}

void RaceDetector::follow_words(const Access& a) {
    const MemoryOrder order = orders_[a.pc];
    synchronise(a, order, orders_.observes(a.pc), now_->order.clocks());
    // Each write that threads may observe is an event.
    const bool writes = order != MemoryOrder::weak && a.kind != MemoryAccess::load;
    if (releases(order) || (writes && orders_.words_are_observed())) separate(a.warp);
}

void RaceDetector::on_fence(std::uint32_t, std::uint32_t warp, std::uint32_t mask, Fence fence) {
    if (!now_->order.by_words()) return;
    now_->order.clocks().fence(warp, mask, fence.order);
    separate(warp);
}

void RaceDetector::on_barrier_arrival(const BarrierArrival& arrival) {
    // The barrier may order only some of the warps.
    if (arrival.expected != 0 || !arrival.waits || arrival.mask != arrival.live) check_waiting();
    now_->order.arrive(arrival);
    separate(arrival.warp);
}

void RaceDetector::on_barrier_release(const BarrierRelease& release) {
    now_->order.release(release);
    const bool is_epoch = now_->order.epoch() != now_->epoch;
    now_->epoch = now_->order.epoch();
    for (RaceCells* cells : {&now_->shared, &now_->global}) {
        cells->events().separate_all();
        is_epoch ? cells->begin_epoch() : cells->order_some_warps();
    }
    if (is_epoch) {
        now_->proxies.begin_epoch(now_->order.clocks());
        now_->window.clear();
        now_->waiting.clear();
        now_->may_wait = true;
    } else {
        now_->is_spoiled = true;
    }
}

void RaceDetector::on_warp_sync(std::uint32_t, std::uint32_t warp, std::uint32_t members) {
    now_->order.warp_sync(warp, members);
    separate(warp);
}

void RaceDetector::separate(std::uint32_t warp) {
    for (RaceCells* cells : {&now_->shared, &now_->global}) cells->events().separate(warp);
}

}  // namespace warpscope::emulator
