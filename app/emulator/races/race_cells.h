#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "emulator/happens_before/memory_orders.h"
#include "emulator/races/access_events.h"

namespace warpscope::emulator {

/// Returns the bytes of the kernel's narrowest access to Space::shared or Space::global, at most
/// 16: cells of this size are covered as a whole by every access.
std::uint32_t cell_bytes(const Kernel& kernel, Space space);

/// Lanes of one warp that accessed a cell in one access event (0: none did).
struct CellAccess {
    std::uint32_t event = 0;
    std::uint32_t lanes = 0;
    bool operator==(const CellAccess&) const = default;
};

/// Accesses of two warps, or of one warp at two instructions. The second one belongs to the current
/// epoch only if the first one does.
using CellAccesses = std::array<CellAccess, 2>;

/// What the race detector stores for one word of memory.
struct alignas(32) RaceCell {
    CellAccess writer;  ///< the last write
    CellAccesses readers;
    std::uint32_t store = 0;              ///< RaceCells::store_number of the last write
    std::uint32_t two_readers_epoch = 0;  ///< first event of the epoch in which two warps read it
};

/// Tells when a cell was accessed. It copies numbers that do not change during an access, so that
/// loops over its cells have them in registers.
struct CellTimes {
    std::uint32_t block_first, epoch_first;  ///< events
    std::uint32_t enough_readers_epoch;

    bool in_epoch(std::uint32_t event) const { return event >= epoch_first; }
    /// True if it was written before the current epoch; shared memory: in the current block.
    bool is_written_earlier(const RaceCell& cell) const {
        return cell.writer.event - block_first < epoch_first - block_first;
    }
    /// Returns true if two warps have read the cell, so that every later write by any warp races
    /// with one of them. More readers need not be recorded, unless a barrier has ordered some of
    /// the warps.
    bool has_enough_readers(const RaceCell& cell) const {
        return cell.two_readers_epoch == enough_readers_epoch;
    }
};

/// The cells of a block's shared memory, or of the global memory that it accesses (GlobalWindow). A
/// cell is as wide as the kernel's narrowest access to this memory, so that every access covers
/// whole cells. Global memory has been written before the block.
class RaceCells {
  public:
    /// Prepares the cells of Space::shared or Space::global for a launch.
    void begin_launch(const Kernel& kernel, const MemoryOrders& orders, Space space,
                      std::uint64_t bytes);
    static constexpr std::size_t most_at_once = 1 << 22;  ///< cells; 128 MiB
    /// Adds cells, because the memory has grown.
    void resize(std::uint64_t bytes);
    /// Forgets the accesses of this epoch.
    void forget();
    void begin_block();
    void begin_epoch();
    /// Notes that a barrier of this epoch has ordered only some of the warps.
    void order_some_warps() { enough_readers_epoch_ = no_epoch; }

    /// Returns false for an access that fails when it executes.
    bool is_valid(std::uint64_t address, std::uint64_t bytes) const {
        return address < bytes_ && bytes <= bytes_ - address && (address & (bytes - 1)) == 0;
    }
    std::uint32_t index_of(std::uint64_t address) const { return std::uint32_t(address) >> shift_; }
    std::uint32_t byte_of(std::uint32_t index) const { return index << shift_; }
    /// The cells of this many bytes.
    std::uint32_t count(std::uint32_t bytes) const { return bytes >> shift_; }
    std::uint32_t cell_bytes() const { return 1u << shift_; }
    unsigned shift() const { return shift_; }
    RaceCell& operator[](std::uint32_t index) { return cells_[index]; }
    /// Some of the memory has atomics or strong stores: shared memory in this block, global memory
    /// in this epoch.
    bool has_atomics() const { return has_atomics_; }
    /// Makes room for atomics and strong stores, before the first of them.
    void begin_atomics();
    /// The atomics and strong stores to a cell; nullptr if has_atomics() is false.
    CellAccesses* atomics(std::uint32_t index) {
        return has_atomics() ? &atomics_[index] : nullptr;
    }

    /// Returns true for a load of one address by all its lanes that need not be recorded: its cells
    /// were written in an earlier epoch, and two warps have read them in this one.
    bool needs_no_record(const Access& load) const {
        const std::uint64_t address = load.lane_addresses[std::countr_zero(load.mask)];
        return (load.checked || is_valid(address, load.bytes)) &&
               needs_no_record(address, load.bytes);
    }
    bool needs_no_record(std::uint64_t valid_address, std::uint32_t bytes) const;
    /// Records a load by all lanes of a warp from one valid address, where that is simple: its
    /// cells were written in an earlier epoch, and at most one other event has read them in this
    /// one. False for other loads, of which some cells may have been recorded.
    bool record_broadcast(std::uint32_t warp, std::uint32_t pc, std::uint64_t address,
                          std::uint32_t bytes);
    CellTimes times() const {
        return {is_shared_ ? events_.block_first() : 0, events_.epoch_first(),
                enough_readers_epoch_};
    }
    /// Whether the write with this number, or a write before the block, has written the cell.
    bool is_written(std::uint32_t event) const { return !is_shared_ || events_.in_block(event); }
    /// Whether a store or an atomic of the block, or a write before it, has written the cell.
    bool has_been_written(std::uint32_t index) const;
    /// Whether one of the cells of these bytes has been written.
    bool any_written(std::uint64_t address, std::uint32_t bytes) const;
    /// An asynchronous copy writes the cell: AsyncRaces knows more of it.
    void set_written(std::uint32_t index) { cells_[index].writer = {events_.block_first(), 0}; }
    /// The block's own copy does, and was compared with what has accessed the cell: later accesses
    /// need only be compared with the copy.
    void begin_copy(std::uint32_t index) { cells_[index] = {.writer = {events_.block_first(), 0}}; }
    void set_two_readers(RaceCell& cell) const { cell.two_readers_epoch = events_.epoch_first(); }

    /// Returns the event that an access belongs to.
    CellAccess begin_access(const Access& access, const BlockOrder& order);
    /// Returns the number of the next executed store instruction of the launch.
    std::uint32_t next_store() { return ++store_number_; }

    AccessEvents& events() { return events_; }
    const AccessEvents& events() const { return events_; }

  private:
    static constexpr std::uint32_t no_epoch = ~0u;

    void remove_unused_events();

    unsigned shift_ = 2;  ///< a cell has 1 << shift_ bytes
    bool is_shared_ = true;
    std::uint64_t bytes_ = 0;
    std::vector<RaceCell> cells_;
    std::vector<CellAccesses> atomics_;  ///< indexed by cell, if has_atomics_
    bool has_atomics_ = false;
    AccessEvents events_;
    std::uint32_t enough_readers_epoch_ = 1;
    bool by_words_ = false;  ///< words of memory may order some of the warps at any time
    std::uint32_t store_number_ = 0;
};

inline bool RaceCells::needs_no_record(std::uint64_t address, std::uint32_t bytes) const {
    if (has_atomics()) return false;
    const CellTimes times = this->times();
    const RaceCell* cell = &cells_[index_of(address)];
    for (std::uint32_t cells = count(bytes); cells > 0; ++cell, --cells)
        if (!times.is_written_earlier(*cell) || !times.has_enough_readers(*cell)) return false;
    return true;
}

inline bool RaceCells::record_broadcast(std::uint32_t warp, std::uint32_t pc, std::uint64_t address,
                                        std::uint32_t bytes) {
    if (has_atomics() || by_words_) return false;
    const CellTimes times = this->times();
    RaceCell* cell = &cells_[index_of(address)];
    for (std::uint32_t cells = count(bytes); cells > 0; ++cell, --cells) {
        if (!times.is_written_earlier(*cell)) return false;
        if (times.has_enough_readers(*cell)) continue;
        const CellAccess now{events_.find(warp, pc), ~0u};
        if (!now.event) return false;
        auto& [first, second] = cell->readers;
        if (!times.in_epoch(first.event) || first.event == now.event) {
            first = now;
        } else if (!times.in_epoch(second.event) && events_[first.event].warp != warp) {
            second = now;
            set_two_readers(*cell);
        } else {
            return false;
        }
    }
    return true;
}

}  // namespace warpscope::emulator
