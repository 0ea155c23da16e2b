#include <algorithm>
#include <span>
#include <utility>

#include "emulator/races/grid/grid_races.h"
#include "emulator/races/streaming_load.h"

// Loads that are recorded only if a block writes to the memory that they read.
namespace warpscope::emulator {

bool GridRaces::postpone(const Access& a) {
    constexpr std::size_t most_runs = 1 << 20;  // 56 MiB
    if (orders_.is_strong(a.pc) || !is_streaming_load(a)) return false;
    const std::uint64_t address = a.lane_addresses[0];
    const GridStrips* const memory = memory_of(a.pc, address, lanes_per_warp * a.bytes);
    if (!memory || memory->has_writes()) return false;
    std::uint32_t& newest = newest_run_[a.warp * launch_.kernel().code.size() + a.pc];
    LoadRun& run = runs_[newest < block_run_ ? 0 : newest];
    const bool is_second = run.first == run.last;
    if (run.memory == memory->begin() && (is_second || address - run.last == run.step)) {
        run.step = address - run.last;
        run.last = address;
        return true;
    }
    if (runs_.size() >= most_runs) return false;
    newest = std::uint32_t(runs_.size());
    runs_.push_back({memory->begin(), address, address, 0, a.block, a.warp, a.pc});
    return true;
}

void GridRaces::record_postponed() {
    std::vector<LoadRun> only_read(1);
    const std::vector<LoadRun> runs = std::exchange(runs_, {});
    for (const LoadRun& run : std::span(runs).subspan(1)) {
        const auto memory = memories_.find(run.memory);
        if (memory == memories_.end() || !memory->second.has_writes()) {
            only_read.push_back(run);
            continue;
        }
        begin_block(run.block);
        for (std::uint64_t first = run.first;; first += run.step) {
            record(StreamingLoad(launch_.kernel(), run.block, run.warp, run.pc, first).access());
            if (first == run.last) break;
        }
    }
    runs_ = std::move(only_read);
    std::fill(newest_run_.begin(), newest_run_.end(), 0);
}

bool GridRaces::lets_wait(const Access& a) {
    constexpr std::size_t most_loads = 1 << 22;  // 64 MiB
    if (in_clusters() || a.asynchronous || orders_.is_strong(a.pc) || !is_streaming_load(a))
        return false;
    GridStrips* const memory = memory_of(a.pc, a.lane_addresses[0], lanes_per_warp * a.bytes);
    if (!memory || memory->has_writes() || memory->waiting_loads().size() >= most_loads)
        return false;
    memory->waiting_loads().push_back({a.lane_addresses[0], event_of(a)});
    return true;
}

void GridRaces::record_waiting(GridStrips& memory) {
    for (const auto& [first, number] : std::exchange(memory.waiting_loads(), {})) {
        const GridEvent event = events_[number];
        const StreamingLoad load(launch_.kernel(), event.block, event.warp, event.pc, first);
        GridStrip strip;
        strip.event = number & GridStrip::event_mask;
        OpenStrip open;
        record_run(load.access(), strip, 0, lanes_per_warp, open);
        close(open);
    }
}

}  // namespace warpscope::emulator
