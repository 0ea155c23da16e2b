#include <bit>

#include "emulator/async/async_copies.h"
#include "emulator/observe/copy_accesses.h"
#include "emulator/program/lanes.h"
#include "emulator/races/grid/grid_races.h"

// Clusters: accesses to the shared memory of other blocks, and what orders them.
namespace warpscope::emulator {

namespace {

/// Where the words of barriers are, which no access has.
constexpr std::uint64_t barrier_window = 0xF000'0000'0000'0000;

}  // namespace

std::uint32_t GridRaces::block_of_rank(std::uint32_t rank) const {
    const std::uint32_t cluster = ClusterPlace::of(launch_.shape(), block_).cluster;
    return ClusterPlace{cluster, rank}.block(launch_.shape());
}

std::uint64_t GridRaces::word_of(std::uint32_t block, std::uint32_t mbarrier,
                                 std::uint32_t phase) const {
    return barrier_window | (address_in_block(block, mbarrier) ^ std::uint64_t(phase & 0xFF) << 48);
}

void GridRaces::on_cluster_access(const Access& a) {
    std::uint64_t addresses[lanes_per_warp];
    for_each_lane(a.same_address ? a.mask & (0 - a.mask) : a.mask, [&](unsigned lane) {
        const std::uint64_t address = a.lane_addresses[lane];
        addresses[lane] =
            address_in_block(block_of_rank(rank_in_cluster(address)), offset_in_cluster(address));
    });
    Access placed = a;
    placed.lane_addresses = addresses;
    record(placed);
}

void GridRaces::on_async(std::uint32_t, const AsyncEvent& event) {
    if (is_off_ || !by_words()) return;
    follow_copies(event);
    if (!launch_.kernel().uses_cluster) return;
    const std::uint32_t thread =
        event.warp * lanes_per_warp + std::uint32_t(std::countr_zero(event.lanes));
    const std::uint64_t barrier_of_cluster = word_of(block_of_rank(0), 0xFFFFFF, event.phase);
    switch (event.kind) {
        case AsyncEvent::cluster_arrived:
            clocks_.write(barrier_of_cluster, thread,
                          event.releases ? MemoryOrder::release : MemoryOrder::relaxed, true);
            break;
        case AsyncEvent::cluster_waited:
            clocks_.read(barrier_of_cluster, thread, MemoryOrder::acquire);
            break;
        case AsyncEvent::arrived_elsewhere:
            clocks_.write(
                word_of(block_of_rank(event.rank), event.barrier->address, event.barrier->phase),
                thread, MemoryOrder::release, true);
            break;
        case AsyncEvent::copy_lands:
            if (event.copy->mbarrier_rank < 0 || !event.barrier) return;
            clocks_.write(word_of(block_of_rank(std::uint32_t(event.copy->mbarrier_rank)),
                                  event.barrier->address, event.barrier->phase),
                          event.copy->warp * lanes_per_warp, MemoryOrder::release, true);
            break;
        case AsyncEvent::phase_seen:
            clocks_.read(word_of(block_, event.barrier->address, event.barrier->phase - 1), thread,
                         MemoryOrder::acquire);
            // Warps of this block may have arrived, too.
            clocks_.order_warps();
            break;
        case AsyncEvent::proxy_fence:
            clocks_.fence(event.warp, event.lanes);
            break;
        default:
            return;
    }
    first_ = std::uint32_t(events_.size());
}

void GridRaces::follow_copies(const AsyncEvent& event) {
    const auto of_block = [&](const Flight& flight) { return flight.block == block_; };
    if (event.kind == AsyncEvent::copy_started) {
        const AsyncCopy& copy = *event.copy;
        const bool is_global = !copy.from_shared || !copy.to_shared;
        if (copy.lane >= 0 && !copy.has_values && is_global)
            flights_.push_back({block_, copy, event.state});
        return;
    }
    for (Flight& flight : flights_) {
        if (!of_block(flight)) continue;
        AsyncCopy& copy = flight.copy;
        if (event.kind == AsyncEvent::copy_lands && event.copy->number == copy.number) {
            // Threads of another block see that it has ended.
            if (copy.mbarrier_rank >= 0) end_parts(flight, event.parts);
            if (event.barrier) flight.phase = event.barrier->phase;
            flight.counted |= event.barrier ? event.parts : 0;
        } else if (event.kind == AsyncEvent::groups_ended && copy.warp == event.warp &&
                   copy.completion == event.completion) {
            if (event.reads_only && !copy.to_shared) continue;
            end_parts(flight, copy.parts_below(copy.parts, event.lanes, event.below));
        } else if (event.kind == AsyncEvent::phase_seen && flight.counted &&
                   copy.mbarrier == event.barrier->address && flight.phase < event.barrier->phase) {
            end_parts(flight, flight.counted);
        }
    }
    std::erase_if(flights_, [](const Flight& flight) { return !flight.copy.parts; });
}

void GridRaces::end_parts(Flight& flight, std::uint32_t parts) {
    parts &= flight.copy.parts;
    flight.copy.parts &= ~parts;
    if (!flight.copy.from_shared)
        for_accesses(flight.copy, parts, false, flight.state, [&](const Access& a) { record(a); });
    if (!flight.copy.to_shared)
        for_accesses(flight.copy, parts, true, flight.state, [&](const Access& a) { record(a); });
}

// The end of a block counts as a store to its shared memory where other blocks access it.
void GridRaces::on_block_end(std::uint32_t block, const Statistics&) {
    if (is_off_ || !by_words()) return;
    for (Flight& flight : flights_)
        if (flight.block == block) end_parts(flight, flight.copy.parts);
    std::erase_if(flights_, [&](const Flight& flight) { return flight.block == block; });
    if (!launch_.kernel().uses_cluster) return;
    const auto found = memories_.find(address_in_block(block, 0));
    if (found == memories_.end()) return;
    const Kernel& kernel = launch_.kernel();
    std::uint32_t pc = 0;
    for (std::uint32_t k = 0; k < kernel.code.size(); ++k)
        if (kernel.code[k].role == Role::exit) pc = k;
    GridStrip end;
    end.event = std::uint32_t(events_.size());
    end.writes = 1;
    events_.push_back({block, 0, pc, clocks_.time(), clocks_.seen()});
    GridStrips& memory = found->second;
    const std::vector<std::uint64_t> rows(memory.rows().begin(), memory.rows().end());
    for (const std::uint64_t row : rows) {
        end.cells = 0;
        memory.for_strips(row, [&](const GridStrip& strip) {
            if (events_[strip.event].block != block) end.cells |= strip.cells;
        });
        if (end.cells) add(memory, row, end);
    }
}

}  // namespace warpscope::emulator
