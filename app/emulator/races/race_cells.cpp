#include "emulator/races/race_cells.h"

#include <algorithm>

#include "emulator/warp/warp.h"

namespace warpscope::emulator {

namespace {

bool may_access(const InstructionInfo& i, Space space) {
    return i.access != MemoryAccess::none &&
           (i.space == space || i.space == Space::generic ||
            (i.space == Space::cluster && space == Space::shared));
}

}  // namespace

std::uint32_t cell_bytes(const Kernel& kernel, Space space) {
    std::uint32_t bytes = 16;
    for (const InstructionInfo& i : kernel.lines)
        if (may_access(i, space) || (i.access == MemoryAccess::none && i.bytes > 0))
            bytes = std::min(bytes, 1u << std::countr_zero(unsigned(i.bytes)));
    return bytes;
}

void RaceCells::begin_launch(const Kernel& kernel, const MemoryOrders& orders, Space space,
                             std::uint64_t bytes) {
    is_shared_ = space == Space::shared;
    by_words_ = orders.have_clocks();
    shift_ = unsigned(std::countr_zero(emulator::cell_bytes(kernel, space)));
    has_atomics_ = false;
    resize(bytes);
}

void RaceCells::resize(std::uint64_t bytes) {
    bytes_ = bytes;
    const std::size_t cells = (bytes >> shift_) + 1;
    // Memory that is not used costs nothing, but the copy into a larger one does.
    if (cells_.capacity() < cells)
        cells_.reserve(std::max(2 * cells, std::min(8 * cells, most_at_once)));
    if (cells_.size() < cells) cells_.resize(cells);
    if (has_atomics_) begin_atomics();
}

void RaceCells::begin_atomics() {
    has_atomics_ = true;
    const std::size_t cells = (bytes_ >> shift_) + 1;
    if (atomics_.size() < cells) atomics_.resize(cells);
}

void RaceCells::forget() {
    std::fill(cells_.begin(), cells_.end(), RaceCell{});
    std::fill(atomics_.begin(), atomics_.end(), CellAccesses{});
}

void RaceCells::begin_block() {
    if (events_.are_exhausted()) {
        forget();
        events_.restart_numbers();
    }
    begin_epoch();
    has_atomics_ = false;
    events_.begin_block();
    enough_readers_epoch_ = by_words_ ? no_epoch : events_.epoch_first();
}

void RaceCells::begin_epoch() {
    events_.begin_epoch();
    has_atomics_ &= is_shared_;
    enough_readers_epoch_ = by_words_ ? no_epoch : events_.epoch_first();
}

CellAccess RaceCells::begin_access(const Access& access, const BlockOrder& order) {
    if (const std::uint32_t known = events_.find(access.warp, access.pc)) return {known, 0};
    if (events_.is_full()) remove_unused_events();
    return {events_.add(access, order.now(access.warp)), 0};
}

// A long epoch with many __syncwarp() calls leaves events that no cell refers to.
void RaceCells::remove_unused_events() {
    const auto for_events = [&](auto&& f) {
        for (RaceCell& cell : cells_)
            for (CellAccess* a : {&cell.writer, &cell.readers[0], &cell.readers[1]})
                if (events_.in_epoch(a->event)) f(a->event);
        for (CellAccesses& accesses : atomics_)
            for (CellAccess& a : accesses)
                if (events_.in_epoch(a.event)) f(a.event);
    };
    const std::uint32_t first = events_.epoch_first();
    std::vector<bool> used(events_.epoch_size());
    for_events([&](std::uint32_t& event) { used[event - first] = true; });
    const std::vector<std::uint32_t> numbers = events_.compact(used);
    for_events([&](std::uint32_t& event) { event = numbers[event - first]; });
}

bool RaceCells::has_been_written(std::uint32_t index) const {
    const auto is_of_block = [&](const CellAccess& a) { return events_.in_block(a.event); };
    return is_written(cells_[index].writer.event) ||
           (has_atomics() && std::ranges::any_of(atomics_[index], is_of_block));
}

bool RaceCells::any_written(std::uint64_t address, std::uint32_t bytes) const {
    const std::uint32_t last = index_of(address + bytes - 1);
    for (std::uint32_t index = index_of(address); index <= last; ++index)
        if (has_been_written(index)) return true;
    return false;
}

}  // namespace warpscope::emulator
