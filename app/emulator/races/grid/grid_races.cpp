#include "emulator/races/grid/grid_races.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>

#include "emulator/happens_before/block_clocks.h"
#include "emulator/happens_before/kernel_paths.h"
#include "emulator/ptx/opcodes.h"
#include "emulator/races/grid/grid_event_queue.h"
#include "emulator/races/race_cells.h"
#include "emulator/warp/memory.h"
#include "emulator/warp/warp.h"

namespace warpscope::emulator {

namespace {

constexpr std::uint64_t most_blocks_by_words = 4096;
constexpr std::size_t most_events = 1 << 24;  // 384 MiB
constexpr std::uint32_t no_block = ~0u;

/// Returns a hash of at most 8 bytes.
std::uint32_t hash_of(const std::byte* bytes, unsigned number) {
    std::uint64_t value = 0;
    std::memcpy(&value, bytes, number);
    value *= 0x9E37'79B9'7F4A'7C15;
    return std::uint32_t((value ^ value << 29) >> 33);
}

/// Access::stored() is available.
bool has_values(const Access& a) {
    return !a.asynchronous && (!a.is_over || a.values);
}

/// Sets the value of a strip of stores by lanes from its first one on. The first cell is one of the
/// `in_lane` cells that each lane stores.
void set_value(GridStrip& strip, const Access& a, std::size_t in_lane, std::uint32_t cell_bytes) {
    std::byte stored[32];
    const std::uint32_t cells_of_lane = a.bytes / cell_bytes;
    const auto cells = lane_count(strip.cells);
    std::uint32_t all = 0, first = 0;
    bool differ = false;
    for (std::uint32_t k = 0; k < cells; ++k) {
        const std::size_t cell = in_lane + k;
        if (k == 0 || cell % cells_of_lane == 0)
            a.stored(strip.lane + unsigned(cell / cells_of_lane), stored);
        const std::uint32_t hash = hash_of(stored + cell % cells_of_lane * cell_bytes, cell_bytes);
        if (k == 0) first = hash;
        differ |= hash != first;
        all = std::rotl(all, 5) * 0x9E37'79B1u + hash;
    }
    strip.has_value = 1;
    strip.values_differ = differ;
    strip.value = (differ ? all : first) & GridStrip::value_mask;
}

}  // namespace

std::unique_ptr<Observer> GridRaces::fork() {
    if (by_words() && !launch_.kernel().synchronises_grid) return nullptr;
    if (by_words()) return std::make_unique<GridEventQueue>(*this);
    auto fork = std::make_unique<GridRaces>();
    fork->log_ = log_.fork();
    fork->launch_ = launch_;
    fork->orders_ = orders_;
    fork->prepare(launch_.kernel());
    return fork;
}

void GridRaces::join(Observer& other) {
    if (by_words()) return;  // it has been told all
    auto& fork = dynamic_cast<GridRaces&>(other);
    if (fork.memory_) memory_ = fork.memory_;
    flags_.join(fork.flags_);
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
    if (events_.size() + fork.events_.size() > GridStrip::event_mask) {
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
                strip->event = (strip->event + offset) & GridStrip::event_mask;
                add(own, row, *strip);
            }
        }
    }
}

void GridRaces::on_launch(const Kernel& kernel, const LaunchShape& launch) {
    // The races of a launch that goes on are found again, with those of its further blocks.
    if (continues_)
        log_ = before_launch_;
    else
        before_launch_ = log_;
    log_.begin_launch();
    launch_.begin(kernel, launch);
    if (std::exchange(continues_, false)) return;
    orders_.begin_launch(kernel);
    told_.begin_launch(kernel, launch, orders_);
    prepare(kernel);
    const std::uint32_t warps = (launch_.threads() + lanes_per_warp - 1) / lanes_per_warp;
    clocks_.begin_launch(launch, {.clocks = in_clusters() ? warps : 1,
                                  .tells_threads_apart =
                                      !kernel.uses_cluster && orders_.only_barriers_order_threads(),
                                  .observes = orders_.words_are_observed()});
}

void GridRaces::prepare(const Kernel& kernel) {
    flags_.begin_launch(kernel);
    guesses_ = loads_that_guess(kernel);
    of_all_blocks_ = stores_of_all_blocks(kernel);
    cell_bytes_ = cell_bytes(kernel, Space::global);
    if (kernel.uses_cluster) cell_bytes_ = std::min(cell_bytes_, cell_bytes(kernel, Space::shared));
    shared_bytes_ = kernel.shared_bytes + launch_.shape().dynamic_shared_bytes;
    const std::size_t warps = (launch_.threads() + lanes_per_warp - 1) / lanes_per_warp;
    events_.assign(1, {});
    newest_.assign(warps * kernel.code.size(), 0);
    if (by_words()) polled_.assign(newest_.size(), 0);
    block_first_ = first_ = 1;
    memories_.clear();
    newest_memory_.assign(kernel.code.size(), nullptr);
    suspects_.clear();
    flights_.clear();
    runs_.assign(1, {});
    newest_run_.assign(warps * kernel.code.size(), 0);
    block_run_ = 1;
    followed_.clear();
    find_constants(kernel);
    has_conflict_ = false;
    block_ = no_block;
}

void GridRaces::find_constants(const Kernel& kernel) {
    std::map<std::uint32_t, std::uint64_t> values;
    for (const auto& [slot, value] : kernel.constants) values[slot | uniform_operand] = value;
    constants_.clear();
    for (std::uint32_t pc = 0; pc < kernel.code.size(); ++pc) {
        const InstructionInfo& info = kernel.lines[pc];
        if (info.access != MemoryAccess::store || info.bytes != cell_bytes_) continue;
        const Instruction& store = kernel.code[pc];
        if (accesses_image(store.operation) || AccessForm(store.target).elements != 1) continue;
        const auto found = values.find(store.operands[1]);
        if (found == values.end()) continue;
        std::byte bytes[8];
        std::memcpy(bytes, &found->second, sizeof(bytes));
        constants_[pc] = hash_of(bytes, info.bytes);
    }
}

void GridRaces::on_block_begin(const Kernel&, std::uint32_t block) {
    begin_block(block);
}

void GridRaces::begin_block(std::uint32_t block) {
    if (block_ == block) return;
    if (by_words()) clocks_.begin_block(block);
    told_.begin_block(block);
    running_block(block);
}

// In a launch of clusters with more blocks, the clusters of the first blocks are checked as wholes:
// a further block of a cluster could order two of the first ones.
bool GridRaces::is_beyond(std::uint32_t block) const {
    const LaunchShape& shape = launch_.shape();
    if (!by_words() || shape.grid.count() <= most_blocks_by_words) return false;
    if (!launch_.kernel().uses_cluster || shape.cooperative) return true;
    const ClusterPlace at = ClusterPlace::of(shape, block);
    const auto last = std::uint32_t(shape.cluster.count()) - 1;
    return ClusterPlace{at.cluster, last}.block(shape) >= most_blocks_by_words;
}

void GridRaces::running_block(std::uint32_t block) {
    is_off_ = is_beyond(block);
    block_ = block;
    block_first_ = first_ = std::uint32_t(events_.size());
    block_run_ = std::uint32_t(runs_.size());
}

void GridRaces::on_block_turn(std::uint32_t block) {
    if (block_ == block) return;
    if (by_words()) clocks_.go_on_with(block);
    running_block(block);
}

std::uint32_t GridRaces::event_of(const Access& a) {
    std::uint32_t& newest = newest_[a.warp * launch_.kernel().code.size() + a.pc];
    if (newest < first_) {
        newest = std::uint32_t(events_.size());
        const bool may_race =
            !orders_.is_strong_between_blocks(a.pc) || orders_.is_volatile_store(a.pc);
        events_.push_back({block_, a.warp, a.pc, clocks_.time(), clocks_.seen(a.warp),
                           clocks_.newest_write() + 1, may_race ? clocks_.observed(a) : 0});
        told_.add_event(a.warp);
    }
    return newest;
}

// True for a load of one word that its warp has just loaded there, as a thread does that polls. Of
// a grid's barrier, each block would look at the accesses of all others each time.
bool GridRaces::repeats_newest(const Access& a) {
    const bool one_word = a.same_address || (a.mask & (a.mask - 1)) == 0;
    if (a.kind != MemoryAccess::load || !one_word || !orders_.is_strong(a.pc)) return false;
    const std::size_t place = a.warp * launch_.kernel().code.size() + a.pc;
    const std::uint64_t address = a.address(unsigned(std::countr_zero(a.mask)));
    if (std::exchange(polled_[place], address) != address) return false;
    return newest_[place] >= first_;
}

GridStrips* GridRaces::memory_of(std::uint32_t pc, std::uint64_t address, std::uint64_t bytes) {
    GridStrips*& newest = newest_memory_[pc];
    if (newest && newest->holds(address, bytes)) return newest;
    std::optional<AddressRange> range;
    if (!is_shared(address))
        range = find_global(*memory_, *launch_.kernel().module, address, bytes);
    else if (const std::uint64_t begin = address & ~std::uint64_t(0xFFFFFF);
             address + bytes <= begin + shared_bytes_)
        range = {begin, begin + shared_bytes_};
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

Scope GridRaces::scope_of(const GridStrip& strip) const {
    return strip.strong ? orders_.scope(events_[strip.event].pc) : Scope::device;
}

// Whether accesses of two blocks conflict. What is strong for a cluster is weak for other blocks.
bool GridRaces::conflict(const GridStrip& one, const GridStrip& other) const {
    if (one.conflicts_with(other)) return true;
    if (!one.strong || !other.strong || !(one.writes || other.writes)) return false;
    if (scope_of(one) == Scope::device && scope_of(other) == Scope::device) return false;
    const auto cluster_of = [&](const GridStrip& strip) {
        return ClusterPlace::of(launch_.shape(), events_[strip.event].block).cluster;
    };
    return cluster_of(one) != cluster_of(other);
}

// Chooses which of two accesses by one block stands for both in a finding. The choice must not
// depend on the order in which the block's warps run.
bool GridRaces::precedes(const GridStrip& one, const GridStrip& other) const {
    return !by_words() && place_of(one) < place_of(other);
}

std::pair<std::uint32_t, std::uint32_t> GridRaces::place_of(const GridStrip& strip) const {
    return {events_[strip.event].pc, events_[strip.event].warp};
}

bool GridRaces::have_one_clock(const GridStrip& one, const GridStrip& other) const {
    const GridEvent &a = events_[one.event], &b = events_[other.event];
    return a.time == b.time && a.seen == b.seen && a.observed == b.observed &&
           (!one.strong || a.write == b.write) && one.leaves_values == other.leaves_values &&
           told_.is_one_moment(one.event, other.event) &&
           told_.may_be_told(a.pc) == told_.may_be_told(b.pc) &&
           (a.warp == b.warp || !clocks_.tells_warps_apart());
}

bool GridRaces::comes_before(const GridStrip& one, const GridStrip& other, const Cell& at) const {
    if (!by_words()) return false;
    const GridEvent &a = events_[one.event], &b = events_[other.event];
    if (clocks_.comes_before(a.block, a.warp, lane_of(one, at.cell), a.time, b.seen)) return true;
    return one.writes && one.strong && b.observed &&
           clocks_.is_observed(at.memory->address_of(at.row, at.cell), a.write, b.observed);
}

std::uint32_t GridRaces::lane_of(const GridStrip& strip, std::uint32_t cell) const {
    if (is_end_of_block(strip)) return 0;
    const std::uint32_t bytes = launch_.kernel().lines[events_[strip.event].pc].bytes;
    const auto before = std::uint32_t(std::popcount(strip.cells & ((1u << cell) - 1)));
    return (strip.lane + before * cell_bytes_ / bytes) % lanes_per_warp;
}

// Adds what is new of a strip: of each cell, the first accesses of each kind by two blocks, the
// lowest ones. Where a third block races with another access, one of the two lowest does. Where
// words of memory order some blocks, this need not be so, and the writes of all blocks are kept;
// neither where what is strong is so for a cluster.
// There, what races with no access so far goes when a strip of its kind stands for it. One strip of
// another block stays beside that one, because accesses of one block are not compared here.
void GridRaces::add(GridStrips& memory, std::uint64_t row, GridStrip& strip) {
    std::uint32_t own = 0, lower = 0, two_lower = 0;
    std::array<std::uint32_t, GridStrips::row_cells> lowest;  // block, of the cells in `lower`
    const auto block_of = [&](const GridStrip& s) { return events_[s.event].block; };
    has_conflict_ = has_conflict_ || memory.conflicts(row, strip);
    const bool may_settle = !by_words() && !strip.writes && !strip.strong;
    if (may_settle && memory.is_settled(row, strip.cells, block_of(strip))) return;
    strip.races = 0;
    if (!memory.has_strips_of(row, strip.cells)) return memory.add(row, strip);
    const bool keeps_all = (by_words() && strip.writes) || scope_of(strip) == Scope::cluster;
    bool has_conflict = false, has_removed = false;
    std::optional<GridStrip>
        of_another;  // the newest one of another block for which `strip` stands
    memory.remove_strips(row, [&](GridStrip& earlier) {
        const std::uint32_t both = earlier.cells & strip.cells;
        if (!both) return false;
        const bool one_block = is_one_block(earlier, strip);
        if (!one_block && conflict(earlier, strip)) {
            has_conflict = true;
            const Cell cell{&memory, row, std::uint32_t(std::countr_zero(both))};
            if (by_words() && !comes_before(earlier, strip, cell)) earlier.races = strip.races = 1;
        }
        if (!earlier.is_kind_of(strip) || scope_of(earlier) != scope_of(strip)) return false;
        if (!strip.has_value_of(earlier)) earlier.many_values = strip.many_values = 1;
        if (by_words() && !earlier.races && stands_for(strip, earlier)) {
            if (one_block || (of_another && stands_for(*of_another, earlier)))
                return has_removed = true;
            if (!of_another) of_another = earlier;
        }
        if (one_block) {
            if (by_words() ? have_one_clock(earlier, strip) : !precedes(strip, earlier))
                own |= both;
        } else if (block_of(earlier) < block_of(strip) && !keeps_all) {
            // A block can have several strips with one cell.
            for (std::uint32_t m = lower & both; m; m &= m - 1)
                if (lowest[std::size_t(std::countr_zero(m))] != block_of(earlier))
                    two_lower |= m & (0 - m);
            for (std::uint32_t m = both & ~lower; m; m &= m - 1)
                lowest[std::size_t(std::countr_zero(m))] = block_of(earlier);
            lower |= both;
        }
        return false;
    });
    if (has_conflict && memory.suspect(row)) suspects_.push_back({&memory, row});
    if (may_settle && two_lower) memory.settle(row, two_lower, block_of(strip));
    // Lanes follow the order of a strip's cells, so a strip with some of them would name others.
    if (has_removed || (strip.cells & ~(own | two_lower)) != 0) memory.add(row, strip);
}

// What comes after `one`, comes after `earlier`, which accesses no cell but those of `one`.
bool GridRaces::stands_for(const GridStrip& one, const GridStrip& earlier) const {
    if ((earlier.cells & ~one.cells) != 0 || told_.are_followed()) return false;
    const GridEvent &a = events_[earlier.event], &b = events_[one.event];
    if (a.block == b.block && !clocks_.tells_warps_apart()) return true;
    for (std::uint32_t m = earlier.cells; m; m &= m - 1) {
        const auto cell = std::uint32_t(std::countr_zero(m));
        const std::uint32_t lane = lane_of(earlier, cell);
        const bool is_one_lane =
            a.block == b.block && a.warp == b.warp && lane == lane_of(one, cell);
        if (!is_one_lane && !clocks_.comes_before(a.block, a.warp, lane, a.time, b.seen))
            return false;
    }
    return true;
}

bool GridRaces::OpenStrip::takes(const GridStrips* of, std::uint64_t in_row,
                                 const GridStrip& next) const {
    return memory == of && row == in_row && next.lane == next_lane &&
           (next.cells & (0 - next.cells)) > strip.cells && next.has_value == strip.has_value &&
           next.value == strip.value && !next.values_differ && !strip.values_differ &&
           next.leaves_values == strip.leaves_values;
}

void GridRaces::add(OpenStrip& open, GridStrips& memory, std::uint64_t row, const GridStrip& strip,
                    std::uint32_t lanes) {
    if (open.takes(&memory, row, strip)) {
        open.strip.cells |= strip.cells;
    } else {
        close(open);
        open = {&memory, row, 0, strip};
    }
    open.next_lane = strip.lane + lanes;
}

void GridRaces::close(OpenStrip& open) {
    if (open.memory) add(*open.memory, open.row, open.strip);
    open.memory = nullptr;
}

// `strip` has what all runs of the access have in common, and is changed for each of them.
void GridRaces::record_run(const Access& a, GridStrip& strip, unsigned first_lane, unsigned lanes,
                           OpenStrip& open) {
    const bool weak_store = a.kind == MemoryAccess::store && !strip.strong;
    const std::uint32_t cells_of_lane = std::max(1u, a.bytes / cell_bytes_);
    const auto shift = unsigned(std::countr_zero(cells_of_lane));
    const auto found =
        weak_store && a.bytes == cell_bytes_ ? constants_.find(a.pc) : constants_.end();
    const std::uint32_t* const constant = found == constants_.end() ? nullptr : &found->second;
    const std::uint32_t all = lanes << shift;
    for (std::uint32_t done = 0; done < all;) {
        const unsigned lane = first_lane + (done >> shift);
        GridStrips* const memory = memory_of(a.pc, a.address(lane), a.bytes);
        if (!memory) {
            done += cells_of_lane;
            continue;
        }
        if (!memory->waiting_loads().empty()) record_waiting(*memory);
        const std::uint64_t first = memory->cell_of(a.address(lane)) + done % (1u << shift);
        const auto in_row = std::uint32_t(first % GridStrips::row_cells);
        const auto number = std::uint32_t(std::min<std::uint64_t>(
            {all - done, GridStrips::row_cells - in_row, memory->cells() - first}));
        strip.lane = lane & 31;
        strip.cells = (~0u >> (GridStrips::row_cells - number)) << in_row;
        strip.has_value = strip.values_differ = strip.many_values = strip.value = 0;
        if (told_.are_followed() && weak_store)
            strip.leaves_values =
                leaves_values(a, lane, first_lane + ((done + number - 1) >> shift));
        if (constant) {
            strip.has_value = 1;
            strip.value = *constant & GridStrip::value_mask;
        } else if (weak_store && has_values(a) && a.bytes >= cell_bytes_ &&
                   (of_all_blocks_[a.pc] || number == cells_of_lane)) {
            set_value(strip, a, done % cells_of_lane, cell_bytes_);
        }
        add(open, *memory, first / GridStrips::row_cells, strip, std::max(1u, number >> shift));
        done += number;
    }
}

bool GridRaces::leaves_values(const Access& a, unsigned first_lane, unsigned last_lane) {
    if (!has_values(a)) return false;
    std::byte stored[32];
    for (unsigned lane = first_lane; lane <= last_lane; ++lane) {
        a.stored(lane, stored);
        if (std::memcmp(reinterpret_cast<const std::byte*>(a.address(lane)), stored, a.bytes) != 0)
            return false;
    }
    return true;
}

void GridRaces::on_global_access(const Access& a) {
    has_strong_ |= orders_.is_strong(a.pc);
    if (flags_.are_used()) flags_.access(a, block_);
    record(a.is_over ? followed_.with_values(a) : a);
}

void GridRaces::record(const Access& a) {
    if (is_off_ || a.kind == MemoryAccess::none || events_.size() >= most_events) return;
    if (!a.is_over) memory_ = a.state->block->memory;
    if (by_words() ? lets_wait(a) : postpone(a)) return;
    if (by_words() && repeats_newest(a)) return follow_words(a);
    GridStrip strip;
    strip.event = event_of(a) & GridStrip::event_mask;
    strip.writes = a.kind != MemoryAccess::load;
    strip.strong = orders_.is_strong_between_blocks(a.pc);
    strip.is_volatile_store = orders_.is_volatile_store(a.pc);
    const bool once = a.same_address && (strip.strong || !strip.writes);
    OpenStrip open;
    for_runs(a, once ? a.mask & (0 - a.mask) : a.mask,
             [&](unsigned first, unsigned lanes) { record_run(a, strip, first, lanes, open); });
    close(open);
    if (by_words()) follow_words(a);
}

void GridRaces::follow_words(const Access& a) {
    const std::uint64_t before = changes();
    ScopedClocks clocks{clocks_, orders_.scope(a.pc)};
    synchronise(a, orders_.between_blocks(a.pc), orders_.observes(a.pc), clocks);
    told_.access(a, orders_);
    // A thread that polls a word in vain learns nothing.
    if (before != changes()) first_ = std::uint32_t(events_.size());
    if (acquires(orders_[a.pc]) || releases(orders_[a.pc])) clocks_.may_order_warps();
}

void GridRaces::on_fence(std::uint32_t, std::uint32_t warp, std::uint32_t mask, Fence fence) {
    if (is_off_ || !by_words()) return;
    if (fence.scope == Scope::block)
        clocks_.may_order_warps();
    else
        clocks_.fence(warp, mask, fence);
    first_ = std::uint32_t(events_.size());
}

void GridRaces::on_warp_sync(std::uint32_t, std::uint32_t warp, std::uint32_t) {
    if (is_off_ || !by_words()) return;
    clocks_.warp_sync(warp);
    told_.warp_sync(warp);
    first_ = std::uint32_t(events_.size());
}

void GridRaces::on_barrier_release(const BarrierRelease&) {
    if (is_off_ || !by_words()) return;
    clocks_.barrier();
    told_.barrier();
    first_ = std::uint32_t(events_.size());
}

}  // namespace warpscope::emulator
