#include "emulator/races/grid_races.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "emulator/order/synchronise.h"
#include "emulator/races/race_cells.h"
#include "emulator/warp/global_range.h"
#include "emulator/warp/warp.h"

namespace warpscope::emulator {

namespace {

constexpr std::uint64_t most_blocks_by_words = 4096;
constexpr std::size_t most_events = 1 << 24;  // 320 MiB
constexpr std::uint32_t no_block = ~0u;
constexpr std::uint32_t event_mask = (1u << GridStrip::event_bits) - 1;

/// Returns a value of this many bytes; a hash for more than 4.
std::uint32_t value_of(const std::byte* bytes, unsigned number) {
    std::uint32_t value = 0;
    for (unsigned k = 0; k < number; ++k)
        value = std::rotl(value, 8) * (k < 4 ? 1 : 0x9E3779B1u) + std::uint32_t(bytes[k]);
    return value;
}

}  // namespace

std::unique_ptr<Observer> GridRaces::fork() {
    if (by_words()) return nullptr;
    auto fork = std::make_unique<GridRaces>();
    fork->log_ = log_.fork();
    fork->launch_ = launch_;
    fork->orders_ = orders_;
    fork->prepare(launch_.kernel());
    return fork;
}

void GridRaces::join(Observer& other) {
    auto& fork = dynamic_cast<GridRaces&>(other);
    if (fork.memory_) memory_ = fork.memory_;
    followed_.join(std::move(fork.followed_));
    has_conflict_ |= fork.has_conflict_;
    runs_.insert(runs_.end(), fork.runs_.begin() + 1, fork.runs_.end());
    block_run_ = std::uint32_t(runs_.size());
    if (memories_.empty()) {
        events_ = std::move(fork.events_);
        memories_ = std::move(fork.memories_);
        suspects_ = std::move(fork.suspects_);
        block_first_ = std::uint32_t(events_.size());
        return;
    }
    // A strip cannot name an event beyond this limit, which takes eight forks at their own limits.
    if (events_.size() + fork.events_.size() > event_mask) {
        has_conflict_ = true;
        return;
    }
    const auto offset = std::uint32_t(events_.size()) - 1;
    events_.insert(events_.end(), fork.events_.begin() + 1, fork.events_.end());
    block_first_ = std::uint32_t(events_.size());
    for (auto& [begin, theirs] : fork.memories_) {
        GridStrips& own =
            memories_.try_emplace(begin, begin, theirs.end(), cell_bytes_).first->second;
        if (!own.join_cells(theirs)) has_conflict_ = true;
        std::vector<GridStrip> strips;
        for (const std::uint64_t row : theirs.rows()) {
            strips.clear();
            theirs.for_strips(row, [&](const GridStrip& strip) { strips.push_back(strip); });
            // Looks at the newest strip first.
            for (auto strip = strips.rbegin(); strip != strips.rend(); ++strip) {
                strip->event = (strip->event + offset) & event_mask;
                strip->is_suspect = false;
                add(own, row, *strip);
            }
        }
    }
}

void GridRaces::on_launch(const Kernel& kernel, const LaunchShape& launch) {
    log_.begin_launch();
    launch_.begin(kernel, launch);
    if (std::exchange(continues_, false)) return;
    orders_.begin_launch(kernel);
    prepare(kernel);
    is_off_ = by_words() && launch.grid.count() > most_blocks_by_words;
    clocks_.begin_launch(is_off_ ? 0 : launch.grid.count());
}

void GridRaces::prepare(const Kernel& kernel) {
    cell_bytes_ = cell_bytes(kernel, Space::global);
    const std::size_t warps = (launch_.threads() + lanes_per_warp - 1) / lanes_per_warp;
    events_.assign(1, {});
    newest_.assign(warps * kernel.code.size(), 0);
    block_first_ = first_ = 1;
    memories_.clear();
    newest_memory_.assign(kernel.code.size(), nullptr);
    suspects_.clear();
    runs_.assign(1, {});
    newest_run_.assign(warps * kernel.code.size(), 0);
    block_run_ = 1;
    has_strong_ = false;
    for (std::uint32_t pc = 0; pc < kernel.code.size(); ++pc) has_strong_ |= orders_.is_strong(pc);
    followed_.clear();
    has_conflict_ = false;
    block_ = no_block;
    newest_valued_.assign(kernel.code.size(), no_block);
}

void GridRaces::on_block_begin(const Kernel&, std::uint32_t block) {
    begin_block(block);
}

void GridRaces::begin_block(std::uint32_t block) {
    if (block_ == block) return;
    block_ = block;
    block_first_ = first_ = std::uint32_t(events_.size());
    block_run_ = std::uint32_t(runs_.size());
    if (by_words()) clocks_.begin_block(block);
}

std::uint32_t GridRaces::event_of(const Access& a) {
    std::uint32_t& newest = newest_[a.warp * launch_.kernel().code.size() + a.pc];
    if (newest < first_) {
        newest = std::uint32_t(events_.size());
        const bool publishes = a.kind != MemoryAccess::load && orders_.is_strong(a.pc);
        const std::uint32_t time = publishes ? clocks_.time_of_publishing() : clocks_.time();
        events_.push_back({block_, a.warp, a.pc, time, clocks_.seen()});
    }
    return newest;
}

GridStrips* GridRaces::memory_of(std::uint32_t pc, std::uint64_t address, std::uint64_t bytes) {
    GridStrips*& newest = newest_memory_[pc];
    if (newest && newest->holds(address, bytes)) return newest;
    const auto range = find_global(*memory_, *launch_.kernel().module, address, bytes);
    if (!range) return nullptr;
    newest =
        &memories_.try_emplace(range->begin, range->begin, range->end, cell_bytes_).first->second;
    return newest;
}

// The events of the running block are the newest ones.
bool GridRaces::is_one_block(const GridStrip& one, const GridStrip& other) const {
    if (one.event >= block_first_ && other.event >= block_first_) return true;
    return events_[one.event].block == events_[other.event].block;
}

// Chooses which of two accesses by one block stands for both in a finding. The choice must not
// depend on the order in which the block's warps run.
bool GridRaces::precedes(const GridStrip& one, const GridStrip& other) const {
    return !by_words() && place_of(one) < place_of(other);
}

std::pair<std::uint32_t, std::uint32_t> GridRaces::place_of(const GridStrip& strip) const {
    return {events_[strip.event].pc, events_[strip.event].warp};
}

bool GridRaces::comes_before(const GridStrip& one, const GridStrip& other) const {
    const GridEvent& a = events_[one.event];
    return by_words() && clocks_.comes_before(a.block, a.time, events_[other.event].seen);
}

// Adds a strip, without what is known already. For each cell, the first accesses of each kind by
// the two lowest blocks are kept. If a third block races with another access, one of these two does
// too. This does not hold if words of memory order some blocks; then the writes of all blocks are
// kept.
void GridRaces::add(GridStrips& memory, std::uint64_t row, GridStrip& strip) {
    std::uint32_t own = 0, lower = 0, two_lower = 0;
    // Block, for each of the cells in `lower`.
    std::array<std::uint32_t, GridStrips::row_cells> lowest;
    const auto block_of = [&](const GridStrip& s) { return events_[s.event].block; };
    has_conflict_ = has_conflict_ || memory.conflicts(row, strip);
    bool is_known = false;         // the row is a suspect already
    GridStrip* suspect = nullptr;  // the strip that makes the row a suspect
    memory.for_strips(row, [&](GridStrip& earlier) {
        is_known |= earlier.is_suspect;
        const std::uint32_t both = earlier.cells & strip.cells;
        if (!both) return;
        const bool one_block = is_one_block(earlier, strip);
        if (!one_block && earlier.conflicts_with(strip)) suspect = &earlier;
        if (!earlier.is_kind_of(strip)) return;
        if (!(strip.has_value && earlier.has_value && strip.value == earlier.value))
            earlier.many_values = strip.many_values = 1;
        if (one_block) {
            if (!precedes(strip, earlier)) own |= both;
        } else if (block_of(earlier) < block_of(strip) && !(by_words() && strip.writes)) {
            // A block can have several strips with one cell.
            for (std::uint32_t m = lower & both; m; m &= m - 1)
                if (lowest[std::size_t(std::countr_zero(m))] != block_of(earlier))
                    two_lower |= m & (0 - m);
            for (std::uint32_t m = both & ~lower; m; m &= m - 1)
                lowest[std::size_t(std::countr_zero(m))] = block_of(earlier);
            lower |= both;
        }
    });
    if (suspect && !is_known) {
        suspect->is_suspect = true;
        suspects_.push_back({&memory, row});
    }
    // The lanes of a strip follow the order of its cells, so a strip with only some of the cells
    // would name other lanes.
    if ((strip.cells & ~(own | two_lower)) != 0) memory.add(row, strip);
}

// `strip` has what all runs of the access have in common, and is changed for each of them.
void GridRaces::record_run(const Access& a, GridStrip& strip, unsigned first_lane, unsigned lanes) {
    const bool weak_store = strip.writes && !strip.strong;
    const std::uint32_t cells_of_lane = std::max(1u, a.bytes / cell_bytes_);
    const auto shift = unsigned(std::countr_zero(cells_of_lane));
    const std::uint32_t all = lanes << shift;
    for (std::uint32_t done = 0; done < all;) {
        const unsigned lane = first_lane + (done >> shift);
        GridStrips* const memory = memory_of(a.pc, a.address(lane), a.bytes);
        if (!memory) {
            done += cells_of_lane;
            continue;
        }
        const std::uint64_t first = memory->cell_of(a.address(lane)) + done % (1u << shift);
        const auto in_row = std::uint32_t(first % GridStrips::row_cells);
        const std::uint32_t number = std::min(
            {all - done, GridStrips::row_cells - in_row, std::uint32_t(memory->cells() - first)});
        strip.lane = lane & 31;
        strip.cells = (~0u >> (GridStrips::row_cells - number)) << in_row;
        strip.has_value = weak_store && number == 1 && a.bytes == cell_bytes_ && !a.is_over;
        strip.many_values = 0;
        if (strip.has_value) {
            std::byte stored[16];
            a.stored(lane, stored);
            strip.value = value_of(stored, a.bytes);
        }
        add(*memory, first / GridStrips::row_cells, strip);
        done += number;
    }
}

void GridRaces::on_global_access(const Access& a) {
    if (!a.is_over || newest_valued_[a.pc] != block_) record(a);
}

void GridRaces::record(const Access& a) {
    if (is_off_ || a.kind == MemoryAccess::none || events_.size() >= most_events) return;
    if (!a.is_over) memory_ = a.state->block->memory;
    if (postpone(a)) return;
    GridStrip strip;
    strip.event = event_of(a) & event_mask;
    strip.writes = a.kind != MemoryAccess::load;
    strip.strong = orders_.is_strong(a.pc);
    const bool once = a.same_address && (strip.strong || !strip.writes);
    for_runs(a, once ? a.mask & (0 - a.mask) : a.mask,
             [&](unsigned first, unsigned lanes) { record_run(a, strip, first, lanes); });
    if (by_words()) follow_words(a);
}

void GridRaces::follow_words(const Access& a) {
    synchronise(a, orders_[a.pc], clocks_);
    if (orders_.is_strong(a.pc)) first_ = std::uint32_t(events_.size());
}

void GridRaces::on_fence(std::uint32_t, std::uint32_t, std::uint32_t) {
    if (is_off_ || !by_words()) return;
    clocks_.fence();
    first_ = std::uint32_t(events_.size());
}

void GridRaces::report(std::uint32_t last_block) {
    record_postponed();
    if (has_conflict_) record_followers();
    std::map<Instructions, Races> races;
    HazardCounts hazards;
    for (const Suspect& suspect : suspects_)
        for (std::uint32_t cell = 0; cell < GridStrips::row_cells; ++cell)
            if (const std::uint64_t number = find_races(suspect, cell, last_block, races);
                heat_ && number)
                hazards.add(suspect.memory->address_of(suspect.row, cell), cell_bytes_, number);
    if (heat_) heat_->add_races(Space::global, hazards);
    log_.begin_block(0);
    for (const auto& [at, found] : races)
        log_.add({&launch_.kernel(), at.first_pc, at.second_pc, FindingKind::race, at.severity,
                  at.hazard},
                 found.count, [&] { return finding(at, found.example); });
}

// For each pair of kinds, finds the lowest blocks that race.
std::uint64_t GridRaces::find_races(const Suspect& at, std::uint32_t cell, std::uint32_t last_block,
                                    std::map<Instructions, Races>& races) const {
    std::vector<GridStrip> strips;
    at.memory->for_strips(at.row, [&](const GridStrip& strip) {
        if (strip.cells >> cell & 1 && events_[strip.event].block <= last_block)
            strips.push_back(strip);
    });
    std::sort(strips.begin(), strips.end(), [&](const GridStrip& a, const GridStrip& b) {
        const std::uint32_t block_a = events_[a.event].block, block_b = events_[b.event].block;
        if (block_a != block_b) return block_a < block_b;
        if (!by_words() && place_of(a) != place_of(b)) return place_of(a) < place_of(b);
        return a.event < b.event;
    });
    std::array<bool, 16> reported{};
    std::uint64_t number = 0;
    for (auto later = strips.begin(); later != strips.end(); ++later)
        for (auto earlier = strips.begin(); earlier != later; ++earlier) {
            if (is_one_block(*earlier, *later) || !earlier->conflicts_with(*later) ||
                comes_before(*earlier, *later) || comes_before(*later, *earlier))
                continue;
            const auto kind = [](const GridStrip& s) { return s.writes * 2u + s.strong; };
            const auto [low, high] = std::minmax({kind(*earlier), kind(*later)});
            if (std::exchange(reported[low * 4 + high], true)) continue;
            ++number;
            const Pair pair{*earlier, *later, at.memory, at.row, cell};
            Races& found = races[instructions_of(pair)];
            if (found.count++ == 0 || order_of(pair) < order_of(found.example))
                found.example = pair;
        }
    return number;
}

GridRaces::Instructions GridRaces::instructions_of(const Pair& pair) const {
    const GridStrip &first = pair.first, &second = pair.second;
    const bool one_value = first.is_kind_of(second) && !first.many_values && !second.many_values;
    return {events_[first.event].pc, events_[second.event].pc,
            one_value ? Severity::warning : Severity::error,
            !first.writes    ? Hazard::write_after_read
            : !second.writes ? Hazard::read_after_write
                             : Hazard::write_after_write};
}

// Orders the pairs. The example of a finding is in the lowest blocks, and among these at the lowest
// word, so that it does not depend on the addresses of allocations.
std::array<std::uint64_t, 4> GridRaces::order_of(const Pair& pair) const {
    return {events_[pair.first.event].block, events_[pair.second.event].block, pair.row, pair.cell};
}

ThreadAtLine GridRaces::thread_of(const GridStrip& strip, std::uint32_t cell) const {
    const GridEvent& event = events_[strip.event];
    const std::uint32_t bytes = launch_.kernel().lines[event.pc].bytes;
    const auto before = std::uint32_t(std::popcount(strip.cells & ((1u << cell) - 1)));
    const std::uint32_t lane = (strip.lane + before * cell_bytes_ / bytes) % lanes_per_warp;
    return launch_.at(event.pc, event.warp * lanes_per_warp + lane, event.block);
}

Finding GridRaces::finding(const Instructions& at, const Pair& pair) const {
    Finding f;
    f.kind = FindingKind::race;
    f.severity = at.severity;
    f.hazard = at.hazard;
    f.kernel = launch_.kernel().name;
    f.first = thread_of(pair.first, pair.cell);
    f.second = thread_of(pair.second, pair.cell);
    f.sentence = fmt::format(
        "Thread {} of block {} {} {} at {}, and thread {} of block {} {} it at {}{}: blocks run in "
        "any order, and {} orders these two.",
        name_of(f.first.thread), name_of(f.first.block), pair.first.writes ? "writes" : "reads",
        describe_global(*memory_, *launch_.kernel().module,
                        pair.memory->address_of(pair.row, pair.cell)),
        f.first.where_in_full(), name_of(f.second->thread), name_of(f.second->block),
        pair.second.writes ? "writes" : "reads", f.second->where_in_full(),
        at.severity == Severity::warning ? ", with the same value" : "",
        by_words() ? "no release and acquire of one word" : "nothing");
    return f;
}

}  // namespace warpscope::emulator
