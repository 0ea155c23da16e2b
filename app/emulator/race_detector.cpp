#include "emulator/race_detector.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace warpscope::emulator {

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
    const size_t words = (shared_bytes_ + 3) / 4;
    if (cells_.size() < words) cells_.resize(words);
    const bool atomics =
        std::any_of(kernel.lines.begin(), kernel.lines.end(), [](const InstructionInfo& i) {
            return i.access == MemoryAccess::atomic &&
                   (i.space == Space::shared || i.space == Space::generic);
        });
    atomics_.assign(atomics ? words : 0, {});
    racing_words_.assign(words, false);
    races_ = false;
}

void RaceDetector::on_block_begin(const Kernel&, uint32_t block) {
    block_ = block;
    log_.begin_block(block);
    if (races_) racing_words_.assign(racing_words_.size(), false);
    races_ = false;
    order_.begin_block();
    block_epoch_ = order_.epoch();
    bytes_.clear();
}

// Calls f(lanes, address) for each lane, or once for all where they load from one address.
template <typename F>
void RaceDetector::for_lanes(F&& f) {
    const Access& a = *access_;
    const uint64_t first = a.address(unsigned(std::countr_zero(a.mask)));
    bool same = a.kind == MemoryAccess::load;
    for (uint32_t m = a.same_address ? 0 : a.mask; same && m; m &= m - 1)
        same = a.address(unsigned(std::countr_zero(m))) == first;
    if (same) {
        f(a.mask, first);
        return;
    }
    for (uint32_t m = a.mask; m; m &= m - 1)
        f(m & (0 - m), a.address(unsigned(std::countr_zero(m))));
}

// Calls f for each word of one lane's access, or for each byte where bytes are told apart.
template <typename F>
void RaceDetector::for_places(uint64_t address, F&& f) {
    charge_ = {};
    charged_unwritten_ = false;
    const uint64_t end = address + access_->bytes;
    if (end > shared_bytes_ || end < address) return;  // an error when it executes
    for (auto at = uint32_t(address); at < end;) {
        const uint32_t word = at / 4;
        const uint32_t next = std::min(uint32_t(end), word * 4 + 4);
        Cell& cell = cells_[word];
        if (cell.split_in == block_epoch_ || next - at < 4) {
            Bytes& bytes = split(word);
            for (; at < next; ++at)
                f(Place{bytes.cells[at % 4], atomics_.empty() ? nullptr : &bytes.atomics[at % 4],
                        at, 1});
        } else {
            f(Place{cell, atomics_.empty() ? nullptr : &atomics_[word], at, 4});
        }
        at = next;
    }
}

RaceDetector::Bytes& RaceDetector::split(uint32_t word) {
    Cell& cell = cells_[word];
    Bytes& bytes = bytes_[word];
    if (cell.split_in != block_epoch_) {
        bytes.cells.fill(cell);
        if (!atomics_.empty()) bytes.atomics.fill(atomics_[word]);
        cell.split_in = block_epoch_;
    }
    return bytes;
}

void RaceDetector::on_shared_access(const Access& access) {
    access_ = &access;
    now_ = order_.now(access.warp);
    ++serial_;
    switch (access.kind) {
        case MemoryAccess::load:
            for_lanes([&](uint32_t lanes, uint64_t address) {
                for_places(address, [&](const Place& p) { load(p, lanes); });
            });
            break;
        case MemoryAccess::store:
            // All lanes first look at what was before their instruction.
            for_lanes([&](uint32_t lane, uint64_t address) {
                const auto l = unsigned(std::countr_zero(lane));
                for_places(address, [&](const Place& p) { check_store(p, l); });
            });
            for_lanes([&](uint32_t lane, uint64_t address) {
                const auto l = unsigned(std::countr_zero(lane));
                for_places(address, [&](const Place& p) { record_store(p, l); });
            });
            break;
        case MemoryAccess::atomic:
            for_lanes([&](uint32_t lane, uint64_t address) {
                const auto l = unsigned(std::countr_zero(lane));
                for_places(address, [&](const Place& p) { atomic(p, l); });
            });
            break;
        case MemoryAccess::none:
            break;
    }
}

void RaceDetector::load(const Place& p, uint32_t lanes) {
    check(p, p.cell.writer, Hazard::read_after_write, lanes);
    if (p.atomics) check_each(p, *p.atomics, Hazard::read_after_write, lanes);
    check_written(p, lanes);
    note(p.cell.readers, lanes);
}

void RaceDetector::check_store(const Place& p, unsigned lane) {
    check(p, p.cell.writer, Hazard::write_after_write, 1u << lane);
    if (p.atomics) check_each(p, *p.atomics, Hazard::write_after_write, 1u << lane);
    check_each(p, p.cell.readers, Hazard::write_after_read, 1u << lane);
}

void RaceDetector::record_store(const Place& p, unsigned lane) {
    Record& writer = p.cell.writer;
    if (writer.at.epoch == now_.epoch && writer.access == serial_) {
        const auto other = unsigned(std::countr_zero(writer.lanes));
        std::byte theirs[16];
        access_->stored(other, theirs);
        if (!stores(lane, p, theirs + (p.byte - access_->address(other))))
            report({Hazard::write_after_write, &writer, other, lane, p.byte}, 1);
        writer.lanes |= 1u << lane;
        return;
    }
    // Whoever raced with what was before this write has been told so; what comes now races with
    // the write itself.
    writer = record_of(1u << lane);
    for (Record& reader : p.cell.readers) reader.at.epoch = 0;
    if (p.atomics)
        for (Record& a : *p.atomics) a.at.epoch = 0;
}

void RaceDetector::atomic(const Place& p, unsigned lane) {
    check(p, p.cell.writer, Hazard::read_after_write, 1u << lane);
    check_each(p, p.cell.readers, Hazard::write_after_read, 1u << lane);
    check_written(p, 1u << lane);
    note(*p.atomics, 1u << lane);
}

// Epochs grow from block to block: what was written in an earlier block has an earlier one.
void RaceDetector::check_written(const Place& p, uint32_t lanes) {
    if (p.cell.writer.at.epoch >= block_epoch_ || charged_unwritten_) return;
    if (p.atomics)
        for (const Record& a : *p.atomics)
            if (a.at.epoch >= block_epoch_) return;
    charged_unwritten_ = true;
    report_unwritten(p, lanes);
}

void RaceDetector::check_each(const Place& p, const std::array<Record, 2>& earlier, Hazard hazard,
                              uint32_t lanes) {
    // Another warp's first: that is the worse one.
    const bool swap = earlier[0].warp == access_->warp;
    check(p, earlier[swap], hazard, lanes) || check(p, earlier[!swap], hazard, lanes);
}

bool RaceDetector::check(const Place& p, const Record& earlier, Hazard hazard, uint32_t lanes) {
    if (earlier.at.epoch != now_.epoch) return false;
    if (earlier.warp == access_->warp) return check_within_warp(p, earlier, hazard, lanes);
    if (order_.warps_ordered(earlier.warp, earlier.at, access_->warp)) return false;
    const auto lane = unsigned(std::countr_zero(lanes));
    const bool same =
        hazard == Hazard::write_after_write && stores(lane, p, access_->shared_memory() + p.byte);
    report({hazard, &earlier, unsigned(std::countr_zero(earlier.lanes)), lane, p.byte, same},
           uint64_t(std::popcount(lanes)));
    return true;
}

bool RaceDetector::check_within_warp(const Place& p, const Record& earlier, Hazard hazard,
                                     uint32_t lanes) {
    Race race{hazard, &earlier, 0, 0, p.byte};
    uint64_t racing = 0;
    for (uint32_t m = lanes; m; m &= m - 1) {
        const auto lane = unsigned(std::countr_zero(m));
        uint32_t others = earlier.lanes & ~(1u << lane);
        if (others) others &= order_.unordered_lanes(access_->warp, earlier.at, lane);
        if (!others) continue;
        if (racing++ > 0) continue;
        race.lane = lane;
        race.earlier_lane = unsigned(std::countr_zero(others));
        race.same_value = keeps_value(p, earlier, lane);
    }
    if (racing) report(race, racing);
    return racing;
}

void RaceDetector::note(std::array<Record, 2>& records, uint32_t lanes) {
    const auto mine = [&](const Record& r) { return r.warp == access_->warp; };
    const auto stale = [&](const Record& r) { return r.at.epoch != now_.epoch; };
    for (Record& r : records)
        if (mine(r) && r.at == now_ && r.pc == access_->pc) {
            r.lanes |= lanes;
            r.access = serial_;
            return;
        }
    const size_t older = records[0].access <= records[1].access ? 0 : 1;
    size_t slot = older;
    if (stale(records[0]))
        slot = 0;
    else if (stale(records[1]))
        slot = 1;
    else if (mine(records[0]) != mine(records[1]))
        slot = mine(records[0]) ? 0 : 1;
    else if (order_.warps_ordered(records[!older].warp, records[!older].at, access_->warp))
        slot = !older;
    records[slot] = record_of(lanes);
}

RaceDetector::Record RaceDetector::record_of(uint32_t lanes) const {
    return {now_, serial_, access_->pc, lanes, access_->warp};
}

// What a store wrote is still there when no other value was written since; an atomic's sum is not
// what it would be after this store.
bool RaceDetector::keeps_value(const Place& p, const Record& earlier, unsigned lane) const {
    return access_->kind == MemoryAccess::store && &earlier == &p.cell.writer &&
           stores(lane, p, access_->shared_memory() + p.byte);
}

bool RaceDetector::stores(unsigned lane, const Place& p, const std::byte* there) const {
    std::byte mine[16];
    access_->stored(lane, mine);
    return std::memcmp(mine + (p.byte - access_->address(lane)), there, p.bytes) == 0;
}

}  // namespace warpscope::emulator
