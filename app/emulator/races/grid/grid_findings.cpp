#include <algorithm>
#include <bit>

#include "emulator/happens_before/kernel_paths.h"
#include "emulator/happens_before/missing_barrier.h"
#include "emulator/races/grid/grid_races.h"
#include "emulator/warp/memory.h"

// What GridRaces reports at the end of a launch.
namespace warpscope::emulator {

namespace {

/// Where blocks could order two accesses by words of memory. `missing`: what else would; may be
/// empty.
files::Sentence unordered_words(const files::Sentence& missing = {}) {
    return missing.empty() ? files::sentence(
                                 "blocks run in any order, and no release and acquire of one word "
                                 "orders these two")
                           : files::sentence(
                                 "blocks run in any order, and no release and acquire of one word "
                                 "orders these two: {}",
                                 missing);
}

}  // namespace

void GridRaces::report(std::uint32_t last_block) {
    record_postponed();
    record_followers();
    std::map<Instructions, Races> races;
    HazardCounts hazards;
    for (const Suspect& suspect : suspects_)
        for (std::uint32_t cell = 0; cell < GridStrips::row_cells; ++cell)
            if (const std::uint64_t number = find_races(suspect, cell, last_block, races);
                heat_ && number && !is_shared(suspect.memory->begin()))
                hazards.add(suspect.memory->address_of(suspect.row, cell), cell_bytes_, number);
    if (heat_) heat_->add_races(Space::global, hazards);
    log_.begin_block(0);
    for (const auto& [at, found] : races)
        log_.add({&launch_.kernel(), at.first_pc, at.second_pc, FindingKind::race, at.severity,
                  at.hazard},
                 found.count, [&] { return finding(at, found.example); });
}

// Keeps for each pair of kinds the lowest blocks that race.
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
    std::array<std::array<bool, 16>, 2> reported{};
    std::uint64_t number = 0;
    for (auto later = strips.begin(); later != strips.end(); ++later)
        for (auto earlier = strips.begin(); earlier != later; ++earlier) {
            const Cell place{at.memory, at.row, cell};
            if (is_one_block(*earlier, *later) || !conflict(*earlier, *later) ||
                comes_before(*earlier, *later, place) || comes_before(*later, *earlier, place))
                continue;
            const auto kind = [](const GridStrip& s) { return s.writes * 2u + s.strong; };
            const auto [low, high] = std::minmax({kind(*earlier), kind(*later)});
            const Pair pair{place, *earlier, *later};
            const bool is_harmless = !why_not_read(pair).empty();
            if (std::exchange(reported[is_harmless][low * 4 + high], true)) continue;
            ++number;
            Races& found = races[instructions_of(pair)];
            if (found.count++ == 0 || order_of(pair) < order_of(found.example))
                found.example = pair;
        }
    return number;
}

bool GridRaces::is_guess(const Pair& pair) const {
    const std::uint32_t one = events_[pair.first.event].pc, other = events_[pair.second.event].pc;
    const auto is_atomic = [&](std::uint32_t pc) {
        return launch_.kernel().lines[pc].access == MemoryAccess::atomic;
    };
    return (guesses_[one] && is_atomic(other)) || (guesses_[other] && is_atomic(one));
}

files::Sentence GridRaces::why_not_read(const Pair& pair) const {
    if (!told_.are_followed() || pair.first.writes == pair.second.writes) return "";
    const GridStrip &read = pair.first.writes ? pair.second : pair.first,
                    &write = pair.first.writes ? pair.first : pair.second;
    const GridEvent& event = events_[read.event];
    if (!told_.may_be_told(event.pc)) return "";
    if (write.leaves_values)
        return files::sentence("but the value that is written was there before");
    if (told_.comes_before(event.block, event.warp, lane_of(read, pair.cell), read.event,
                           write.event))
        return files::sentence(
            "but what is read goes into a word that the other block looks at before it writes, so "
            "the read comes first");
    return "";
}

GridRaces::Instructions GridRaces::instructions_of(const Pair& pair) const {
    const GridStrip &first = pair.first, &second = pair.second;
    const bool one_value = first.is_kind_of(second) && !first.many_values && !second.many_values;
    return {events_[first.event].pc, events_[second.event].pc,
            one_value || is_guess(pair) || !why_not_read(pair).empty() ? Severity::note
                                                                       : Severity::error,
            !first.writes    ? Hazard::write_after_read
            : !second.writes ? Hazard::read_after_write
                             : Hazard::write_after_write};
}

// The lowest blocks are the example of a finding, and of these the lowest word: it must not depend
// on the addresses of allocations.
std::array<std::uint64_t, 4> GridRaces::order_of(const Pair& pair) const {
    return {events_[pair.first.event].block, events_[pair.second.event].block, pair.row, pair.cell};
}

ThreadAtLine GridRaces::thread_of(const GridStrip& strip, std::uint32_t cell) const {
    const GridEvent& event = events_[strip.event];
    return launch_.at(event.pc, event.warp * lanes_per_warp + lane_of(strip, cell), event.block);
}

Finding GridRaces::finding(const Instructions& at, const Pair& pair) const {
    Finding f;
    f.kind = FindingKind::race;
    f.severity = at.severity;
    f.hazard = at.hazard;
    f.kernel = launch_.kernel().name;
    f.first = thread_of(pair.first, pair.cell);
    f.second = thread_of(pair.second, pair.cell);
    if (is_end_of_block(pair.first) || is_end_of_block(pair.second)) {
        f.sentence = sentence_of_end(f, pair);
        return f;
    }
    const bool one_value = at.severity == Severity::note;
    const files::Form<8> form =
        at.hazard == Hazard::write_after_read
            ? files::Form<8>(
                  "Thread {} of block {} reads {} at {}, and thread {} of block {} "
                  "writes it at {}: {}.")
        : at.hazard == Hazard::read_after_write
            ? files::Form<8>(
                  "Thread {} of block {} writes {} at {}, and thread {} of block {} "
                  "reads it at {}: {}.")
        : one_value ? files::Form<8>(
                          "Thread {} of block {} writes {} at {}, and thread {} of block {} "
                          "writes it at {}, with the same value: {}.")
                    : files::Form<8>(
                          "Thread {} of block {} writes {} at {}, and thread {} of block {} "
                          "writes it at {}: {}.");
    const files::Sentence why = cause(f, pair);
    f.sentence =
        files::sentence(form, name_of(f.first.thread), name_of(f.first.block), name_of_place(pair),
                        f.first.where_in_full(), name_of(f.second->thread),
                        name_of(f.second->block), f.second->where_in_full(), why);
    return f;
}

bool GridRaces::is_end_of_block(const GridStrip& strip) const {
    return launch_.kernel().code[events_[strip.event].pc].role == Role::exit;
}

files::Sentence GridRaces::sentence_of_end(const Finding& f, const Pair& pair) const {
    const bool first_ends = is_end_of_block(pair.first);
    const ThreadAtLine& access = first_ends ? *f.second : f.first;
    const files::Form<4> form =
        (first_ends ? pair.second : pair.first).writes
            ? files::Form<4>(
                  "Thread {} of block {} writes {} at {}, and nothing makes that block "
                  "wait before it ends: its shared memory may be gone.")
            : files::Form<4>(
                  "Thread {} of block {} reads {} at {}, and nothing makes that block "
                  "wait before it ends: its shared memory may be gone.");
    return files::sentence(form, name_of(access.thread), name_of(access.block), name_of_place(pair),
                           access.where_in_full())
        .add(files::sentence("A barrier of the cluster, such as cluster.sync(), must stand behind "
                             "the access, for both blocks."));
}

/// "byte 64 of the shared memory of block (1,0,0)", "byte 12 of an allocation of 400 bytes"
files::Sentence GridRaces::name_of_place(const Pair& pair) const {
    const std::uint64_t address = pair.memory->address_of(pair.row, pair.cell);
    if (!is_shared(address)) return describe_global(*memory_, *launch_.kernel().module, address);
    const auto block = std::uint32_t(address % shared_window >> rank_shift);
    return files::sentence("byte {} of the shared memory of block {}", offset_in_cluster(address),
                           name_of(index_in(launch_.shape().grid, block)));
}

files::Sentence GridRaces::cause(Finding& f, const Pair& pair) const {
    if (const files::Sentence why = why_not_read(pair); !why.empty())
        return unordered_words().add(why, "; ");
    if (files::Sentence text = small_scope(pair); !text.empty()) return text;
    if (files::Sentence text = missing_in_block(pair); !text.empty()) return text;
    const Kernel& kernel = launch_.kernel();
    const std::uint32_t one = events_[pair.first.event].pc, other = events_[pair.second.event].pc;
    const bool in_shared = is_shared(pair.memory->begin());
    files::Sentence text;
    if (!in_shared) text = missing_fences(f, pair);
    if (text.empty() && pair.first.writes != pair.second.writes) {
        text = pair.first.writes ? missing_atomic(f, kernel, other, one)
                                 : missing_atomic(f, kernel, one, other);
        if (!text.empty()) return text;
    }
    if (text.empty()) text = missing_order(f, pair);
    if (in_shared) return text;
    if (orders_.has_fences_of(Scope::block))
        text.add(files::sentence("a fence of block scope, such as __threadfence_block(), orders "
                                 "nothing between blocks"),
                 "; ");
    if (orders_.has_fences_of(Scope::cluster))
        text.add(files::sentence("a fence of cluster scope orders nothing between clusters"), "; ");
    return text;
}

files::Sentence GridRaces::small_scope(const Pair& pair) const {
    for (const GridStrip* strip : {&pair.first, &pair.second}) {
        const std::uint32_t pc = events_[strip->event].pc;
        const bool of_cluster = scope_of(*strip) == Scope::cluster;
        if (launch_.kernel().lines[pc].access != MemoryAccess::atomic) continue;
        if (strip->strong && !of_cluster) continue;
        const files::Form<1> form =
            of_cluster ? files::Form<1>(
                             "the atomic operation at {} has the scope of a cluster, so "
                             "it is not atomic for threads of other clusters")
                       : files::Form<1>(
                             "the atomic operation at {} has the scope of a block, so "
                             "it is not atomic for threads of other blocks");
        return files::sentence(form, thread_of(*strip, pair.cell).where());
    }
    return "";
}

// One thread of a block has released a word, and one thread of the other block has acquired it, but
// not the threads of the two accesses.
files::Sentence GridRaces::missing_in_block(const Pair& pair) const {
    if (!by_words() || !clocks_.tells_warps_apart() || is_shared(pair.memory->begin())) return "";
    for (const auto& [one, other] :
         {std::pair(pair.first, pair.second), std::pair(pair.second, pair.first)}) {
        const GridEvent &before = events_[one.event], &after = events_[other.event];
        const auto is_known = [&](std::uint32_t seen) {
            return clocks_.is_before_release(before.block, before.warp, before.time, seen);
        };
        const ThreadAtLine first = thread_of(one, pair.cell), second = thread_of(other, pair.cell);
        if (is_known(after.seen))
            return files::sentence(
                "another thread of block {} tells block {} that it may go on, and does not wait "
                "for this thread: __syncthreads(), or __syncwarp() within a warp, is missing "
                "behind {}",
                name_of(first.block), name_of(second.block), first.where());
        if (clocks_.another_warp_acquires(after.block, after.warp, after.time, is_known))
            return files::sentence(
                "another thread of block {} waits for block {}, and this thread does not wait for "
                "that one: __syncthreads() is missing between the wait and {}",
                name_of(second.block), name_of(first.block), second.where());
    }
    return "";
}

// Either block may have set the flag for the other one.
files::Sentence GridRaces::missing_fences(Finding& f, const Pair& pair) const {
    if (f.severity == Severity::note) return "";
    const GridEvent &one = events_[pair.first.event], &other = events_[pair.second.event];
    const Kernel& kernel = launch_.kernel();
    files::Sentence text =
        flags_.missing_fences(f, kernel, {one.pc, other.pc, one.block, other.block}, Scope::device);
    if (text.empty())
        text = flags_.missing_fences(f, kernel, {other.pc, one.pc, other.block, one.block},
                                     Scope::device);
    return text;
}

files::Sentence GridRaces::missing_order(Finding& f, const Pair& pair) const {
    const Kernel& kernel = launch_.kernel();
    const std::uint32_t one = events_[pair.first.event].pc, other = events_[pair.second.event].pc;
    const bool in_shared = is_shared(pair.memory->begin());
    const AccessOrder order =
        program_order(kernel, one, other, !in_shared && !kernel.synchronises_grid);
    const bool is_reversed = order == AccessOrder::reversed ||
                             (order == AccessOrder::unknown && f.first.line > f.second->line);
    const AccessPair accesses{kernel, one, other, is_reversed};
    if (in_shared)
        return files::sentence("no barrier of the cluster orders these two: {}",
                               missing_barrier(f, accesses, BarrierScope::cluster));
    const bool words_are_seen = by_words() && orders_.words_are_seen();
    files::Sentence missing;
    if (kernel.synchronises_grid)
        missing = missing_barrier(f, accesses, BarrierScope::grid);
    else if (!words_are_seen && f.severity != Severity::note)
        missing = missing_barrier(f, accesses, BarrierScope::launch);
    else if (words_are_seen && f.first.where() != f.second->where())
        f.barrier = place_between(f, is_reversed, BarrierScope::words);
    const bool have_barrier = kernel.has_barrier && one != other &&
                              !reached_in_epoch(kernel, one)[other] &&
                              !reached_in_epoch(kernel, other)[one];
    files::Sentence text =
        words_are_seen ? unordered_words(missing)
        : missing.empty()
            ? files::sentence("blocks run in any order, and nothing orders these two")
            : files::sentence("blocks run in any order, and nothing orders these two: {}", missing);
    if (have_barrier)
        text.add(
            files::sentence("the __syncthreads() between them is for the threads of one block"),
            "; ");
    return text;
}

}  // namespace warpscope::emulator
