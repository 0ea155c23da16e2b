#include "emulator/checks/race_detector.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace warpscope::emulator {

namespace {

constexpr uint32_t never_settled = ~0u;
constexpr size_t most_doings = 1 << 20;

}  // namespace

std::unique_ptr<Observer> RaceDetector::fork() {
    auto fork = std::make_unique<RaceDetector>(*this);
    fork->log_ = log_.fork();
    return fork;
}

void RaceDetector::join(Observer& fork) {
    log_.join(dynamic_cast<RaceDetector&>(fork).log_);
}

void RaceDetector::on_launch(const Kernel& kernel, const Launch& launch) {
    places_.begin(kernel, launch);
    log_.begin_launch();
    order_.begin_launch(places_.threads());
    shared_bytes_ = kernel.shared_bytes + launch.dynamic_shared_bytes;
    shift_ = 4;
    bool atomics = false;
    for (const InstructionInfo& i : kernel.lines) {
        if (i.access == MemoryAccess::none) continue;
        if (i.space != Space::shared && i.space != Space::generic) continue;
        shift_ = std::min(shift_, unsigned(std::countr_zero(unsigned(i.bytes))));
        atomics |= i.access == MemoryAccess::atomic;
    }
    const size_t cells = (size_t(shared_bytes_) >> shift_) + 1;
    if (cells_.size() < cells) cells_.resize(cells);
    atomics_.assign(atomics ? cells : 0, {});
    const size_t warps = (places_.threads() + lanes_per_warp - 1) / lanes_per_warp;
    instructions_ = kernel.code.size();
    newest_.assign(warps * instructions_, 0);
    racing_words_.assign((shared_bytes_ + 3) / 4, false);
    races_ = false;
}

void RaceDetector::on_block_begin(const Kernel&, uint32_t block) {
    constexpr uint32_t most = 1u << 31;
    if (next_ > most) {
        std::fill(cells_.begin(), cells_.end(), Cell{});
        std::fill(atomics_.begin(), atomics_.end(), Records{});
        std::fill(newest_.begin(), newest_.end(), 0);
        next_ = 1;
    }
    block_ = block;
    log_.begin_block(block);
    if (races_) racing_words_.assign(racing_words_.size(), false);
    races_ = false;
    order_.begin_block();
    begin_epoch();
    block_first_ = next_;
}

void RaceDetector::on_barrier_arrival(const BarrierArrival& a) {
    order_.arrive(a);
    moment_first_[a.warp] = next_;
}

void RaceDetector::on_barrier_release(const BarrierRelease& r) {
    order_.release(r);
    moment_first_.fill(next_);
    if (order_.epoch() != epoch_)
        begin_epoch();
    else
        settled_ = never_settled;
}

void RaceDetector::on_warp_sync(uint32_t, uint32_t warp, uint32_t members) {
    order_.warp_sync(warp, members);
    moment_first_[warp] = next_;
}

void RaceDetector::begin_epoch() {
    epoch_ = order_.epoch();
    epoch_first_ = settled_ = next_;
    moment_first_.fill(next_);
    doings_.clear();
}

uint32_t RaceDetector::doing_of(const Access& a) {
    uint32_t& newest = newest_[a.warp * instructions_ + a.pc];
    if (newest < moment_first_[a.warp]) {
        if (doings_.size() >= most_doings) forget_doings();
        newest = next_++;
        doings_.push_back({order_.now(a.warp), a.pc, a.warp});
    }
    return newest;
}

// A long epoch of many warp barriers leaves doings that no cell remembers: what is left is
// numbered anew, in the same order.
void RaceDetector::forget_doings() {
    std::vector<uint32_t> number(doings_.size());
    const auto for_records = [&](auto&& f) {
        for (Cell& cell : cells_)
            for (Record* r : {&cell.writer, &cell.readers[0], &cell.readers[1]})
                if (is_current(*r)) f(r->doing);
        for (Records& records : atomics_)
            for (Record& r : records)
                if (is_current(r)) f(r.doing);
    };
    for_records([&](uint32_t& doing) { number[doing - epoch_first_] = 1; });
    std::fill(newest_.begin(), newest_.end(), 0);
    std::vector<Doing> left;
    for (size_t k = 0; k < number.size(); ++k) {
        if (!number[k]) continue;
        number[k] = epoch_first_ + uint32_t(left.size());
        left.push_back(doings_[k]);
    }
    for_records([&](uint32_t& doing) { doing = number[doing - epoch_first_]; });
    doings_ = std::move(left);
    next_ = epoch_first_ + uint32_t(doings_.size());
    moment_first_.fill(next_);
}

bool RaceDetector::is_sound(uint64_t address, uint64_t bytes) const {
    return address < shared_bytes_ && bytes <= shared_bytes_ - address &&
           (address & (bytes - 1)) == 0;
}

// Written before this epoch, in this block.
bool RaceDetector::is_ready(const Cell& cell) const {
    return cell.writer.doing - block_first_ < epoch_first_ - block_first_;
}

// A load of one address of which there is nothing to note.
bool RaceDetector::is_settled(const Access& a) const {
    const uint64_t address = a.lane_addresses[std::countr_zero(a.mask)];
    if (!atomics_.empty() || !is_sound(address, a.bytes)) return false;
    const Cell* cell = &cells_[uint32_t(address) >> shift_];
    for (uint32_t cells = a.bytes >> shift_; cells > 0; ++cell, --cells)
        if (!is_ready(*cell) || cell->settled != settled_) return false;
    return true;
}

void RaceDetector::on_shared_access(const Access& a) {
    if (a.kind == MemoryAccess::load && a.same_address && is_settled(a)) return;
    follow(a);
}

void RaceDetector::follow(const Access& a) {
    access_ = &a;
    now_ = {doing_of(a), 0};
    if (a.kind == MemoryAccess::load) {
        if (a.same_address) return load(a.address(unsigned(std::countr_zero(a.mask))), a.mask);
        for (uint32_t m = a.mask; m; m &= m - 1)
            load(a.lane_addresses[std::countr_zero(m)], m & (0 - m));
    } else if (a.kind == MemoryAccess::store) {
        ++serial_;
        uint32_t slow = 0;
        for (uint32_t m = a.mask; m; m &= m - 1)
            if (!store_fresh(unsigned(std::countr_zero(m)))) slow |= m & (0 - m);
        if (slow) store_slowly(slow);
    } else if (a.kind == MemoryAccess::atomic) {
        for_lanes(a.mask, [&](const Place& p, unsigned lane) { atomic(p, lane); });
    }
}

// Calls f for each cell of an access.
template <typename F>
void RaceDetector::for_places(uint32_t cell, uint32_t cells, F&& f) {
    charge_ = {};
    charged_unwritten_ = false;
    for (; cells > 0; ++cell, --cells)
        f(Place{cells_[cell], atomics_.empty() ? nullptr : &atomics_[cell], cell << shift_, cells});
}

template <typename F>
void RaceDetector::for_lanes(uint32_t lanes, F&& f) {
    for (uint32_t m = lanes; m; m &= m - 1) {
        const auto lane = unsigned(std::countr_zero(m));
        const uint64_t address = access_->address(lane);
        if (!is_sound(address, access_->bytes)) continue;
        for_places(uint32_t(address) >> shift_, access_->bytes >> shift_,
                   [&](const Place& p) { f(p, lane); });
    }
}

// What is most often the case goes fast: written before this epoch, and read by this warp alone.
void RaceDetector::load(uint64_t address, uint32_t lanes) {
    if (!is_sound(address, access_->bytes)) return;
    auto index = uint32_t(address) >> shift_;
    for (uint32_t cells = access_->bytes >> shift_; cells > 0; ++index, --cells) {
        Cell& cell = cells_[index];
        if (!is_ready(cell) || !atomics_.empty()) {
            for_places(index, cells, [&](const Place& p) { load_slowly(p, lanes); });
            return;
        }
        Record& reader = cell.readers[0];
        if (cell.settled == settled_) continue;
        if (reader.doing == now_.doing)
            reader.lanes |= lanes;
        else if (!is_current(reader))
            reader = {now_.doing, lanes};
        else
            note_reader(cell, lanes);
    }
}

void RaceDetector::load_slowly(const Place& p, uint32_t lanes) {
    check(p, p.cell.writer, Hazard::read_after_write, lanes);
    if (p.atomics) check_each(p, *p.atomics, Hazard::read_after_write, lanes);
    check_written(p, lanes);
    note_reader(p.cell, lanes);
}

// Two readers of different warps are enough: whoever writes races with one of them. Only where
// some barrier of this epoch ordered some warps does it matter which.
void RaceDetector::note_reader(Cell& cell, uint32_t lanes) {
    if (cell.settled == settled_) return;
    note(cell.readers, lanes);
    const auto& [first, second] = cell.readers;
    if (is_current(first) && is_current(second) && doing(first).warp != doing(second).warp)
        cell.settled = epoch_first_;
}

// Records a store into cells that nobody has accessed in this epoch; false for others.
bool RaceDetector::store_fresh(unsigned lane) {
    const uint64_t address = access_->address(lane);
    if (!is_sound(address, access_->bytes)) return true;
    Cell* const first = &cells_[uint32_t(address) >> shift_];
    Cell* const end = first + (access_->bytes >> shift_);
    bool fresh = atomics_.empty();
    for (const Cell* cell = first; cell != end; ++cell)
        fresh &= cell->writer.doing < epoch_first_ && cell->readers[0].doing < epoch_first_;
    if (!fresh) return false;
    for (Cell* cell = first; cell != end; ++cell) {
        cell->writer = {now_.doing, 1u << lane};
        cell->store = serial_;
    }
    return true;
}

// All lanes first look at what was before their instruction.
void RaceDetector::store_slowly(uint32_t lanes) {
    for_lanes(lanes, [&](const Place& p, unsigned lane) { check_store(p, lane); });
    for_lanes(lanes, [&](const Place& p, unsigned lane) { record_store(p, lane); });
}

void RaceDetector::check_store(const Place& p, unsigned lane) {
    if (p.cell.store == serial_ && p.cell.writer.doing == now_.doing) return;
    check(p, p.cell.writer, Hazard::write_after_write, 1u << lane);
    if (p.atomics) check_each(p, *p.atomics, Hazard::write_after_write, 1u << lane);
    check_each(p, p.cell.readers, Hazard::write_after_read, 1u << lane);
}

void RaceDetector::record_store(const Place& p, unsigned lane) {
    Record& writer = p.cell.writer;
    if (p.cell.store == serial_ && writer.doing == now_.doing) {
        const auto other = unsigned(std::countr_zero(writer.lanes));
        std::byte theirs[16], mine[16];
        access_->stored(other, theirs);
        access_->stored(lane, mine);
        if (std::memcmp(mine + (p.byte - access_->address(lane)),
                        theirs + (p.byte - access_->address(other)), overlap(p, writer)) != 0)
            report({.hazard = Hazard::write_after_write,
                    .earlier = &writer,
                    .earlier_lane = other,
                    .lane = lane,
                    .byte = p.byte,
                    .one_instruction = true},
                   1);
        writer.lanes |= 1u << lane;
        return;
    }
    // Whoever raced with what was before this write has been told so; what comes now races with
    // the write itself.
    writer = {now_.doing, 1u << lane};
    p.cell.store = serial_;
    p.cell.readers = {};
    p.cell.settled = 0;
    if (p.atomics) *p.atomics = {};
}

void RaceDetector::atomic(const Place& p, unsigned lane) {
    check(p, p.cell.writer, Hazard::read_after_write, 1u << lane);
    check_each(p, p.cell.readers, Hazard::write_after_read, 1u << lane);
    check_written(p, 1u << lane);
    note(*p.atomics, 1u << lane);
}

void RaceDetector::check_written(const Place& p, uint32_t lanes) {
    if (p.cell.writer.doing >= block_first_ || charged_unwritten_) return;
    if (p.atomics)
        for (const Record& a : *p.atomics)
            if (a.doing >= block_first_) return;
    charged_unwritten_ = true;
    report_unwritten(p, lanes);
}

void RaceDetector::check_each(const Place& p, const Records& earlier, Hazard hazard,
                              uint32_t lanes) {
    // Another warp's first: that is the worse one.
    const bool swap = is_current(earlier[0]) && doing(earlier[0]).warp == access_->warp;
    check(p, earlier[swap], hazard, lanes) || check(p, earlier[!swap], hazard, lanes);
}

bool RaceDetector::check(const Place& p, const Record& earlier, Hazard hazard, uint32_t lanes) {
    if (!is_current(earlier)) return false;
    const Doing& theirs = doing(earlier);
    if (theirs.warp == access_->warp) return check_within_warp(p, earlier, hazard, lanes);
    if (order_.warps_ordered(theirs.warp, theirs.at, access_->warp)) return false;
    const auto lane = unsigned(std::countr_zero(lanes));
    report({.hazard = hazard,
            .earlier = &earlier,
            .earlier_lane = unsigned(std::countr_zero(earlier.lanes)),
            .lane = lane,
            .byte = p.byte,
            .same_value = hazard == Hazard::write_after_write && keeps_value(p, earlier, lane)},
           uint64_t(std::popcount(lanes)));
    return true;
}

bool RaceDetector::check_within_warp(const Place& p, const Record& earlier, Hazard hazard,
                                     uint32_t lanes) {
    Race race{.hazard = hazard, .earlier = &earlier, .byte = p.byte};
    uint64_t racing = 0;
    for (uint32_t m = lanes; m; m &= m - 1) {
        const auto lane = unsigned(std::countr_zero(m));
        uint32_t others = earlier.lanes & ~(1u << lane);
        if (others) others &= order_.unordered_lanes(access_->warp, doing(earlier).at, lane);
        if (!others) continue;
        if (racing++ > 0) continue;
        race.lane = lane;
        race.earlier_lane = unsigned(std::countr_zero(others));
        // An atomic's sum is not what it would be after this store.
        race.same_value = access_->kind == MemoryAccess::store && &earlier == &p.cell.writer &&
                          keeps_value(p, earlier, lane);
    }
    if (racing) report(race, racing);
    return racing;
}

void RaceDetector::note(Records& records, uint32_t lanes) {
    for (Record& r : records)
        if (r.doing == now_.doing) {
            r.lanes |= lanes;
            return;
        }
    size_t slot = 0;
    if (is_current(records[0])) {
        slot = 1;
        if (is_current(records[1])) {
            const Doing &first = doing(records[0]), &second = doing(records[1]);
            const bool mine[] = {first.warp == access_->warp, second.warp == access_->warp};
            const size_t older = records[0].doing <= records[1].doing ? 0 : 1;
            if (mine[0] != mine[1]) {
                slot = mine[0] ? 0 : 1;
            } else {
                const Doing& newer = older == 0 ? second : first;
                const bool replaces_newer =
                    !mine[0] && order_.warps_ordered(newer.warp, newer.at, access_->warp);
                slot = replaces_newer ? !older : older;
            }
        }
    }
    records[slot] = {now_.doing, lanes};
}

uint32_t RaceDetector::overlap(const Place& p, const Record& earlier) const {
    const auto has_it = [&](uint32_t k) {
        const Cell& cell = (&p.cell)[k];
        if (cell.writer == earlier) return true;
        return p.atomics && (p.atomics[k][0] == earlier || p.atomics[k][1] == earlier);
    };
    uint32_t cells = 1;
    while (cells < p.cells && has_it(cells)) ++cells;
    return cells << shift_;
}

// What an earlier store wrote is still there when no other value was written since.
bool RaceDetector::keeps_value(const Place& p, const Record& earlier, unsigned lane) const {
    std::byte mine[16];
    access_->stored(lane, mine);
    return std::memcmp(mine + (p.byte - access_->address(lane)), access_->shared_memory() + p.byte,
                       overlap(p, earlier)) == 0;
}

}  // namespace warpscope::emulator
