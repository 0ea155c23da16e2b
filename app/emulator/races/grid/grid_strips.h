#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace warpscope::emulator {

/// What the lanes of a warp do at one instruction, between two moments at which words of memory
/// order blocks.
struct GridEvent {
    std::uint32_t block = 0, warp = 0, pc = 0;
    // See BlockClocks.
    std::uint32_t time = 0;
    std::uint32_t seen = 0;
    std::uint32_t write = 0;     ///< the number that a strong write has
    std::uint32_t observed = 0;  ///< of its words
};

/// The first accesses, by a block and of one kind, of some cells of a row. The cells belong to
/// neighbouring lanes, in their order, but need not be neighbours.
struct GridStrip {
    static constexpr std::uint32_t event_bits = 26, event_mask = (1u << event_bits) - 1;
    static constexpr std::uint32_t value_bits = 30, value_mask = (1u << value_bits) - 1;

    std::uint32_t event : event_bits = 0;
    std::uint32_t lane : 5 = 0;               ///< lane of the first cell
    std::uint32_t is_volatile_store : 1 = 0;  ///< a strong one: two of them race
    std::uint32_t next : 26 = 0;              ///< next strip of the row; 0: none
    std::uint32_t races : 1 = 0;              ///< nothing orders it and another one that conflicts
    std::uint32_t writes : 1 = 0;             ///< a store or an atomic
    /// An atomic, or a relaxed, release or acquire access, unless of block scope.
    std::uint32_t strong : 1 = 0;
    std::uint32_t has_value : 1 = 0;    ///< a weak store of a lane, of a constant, or of all blocks
    std::uint32_t many_values : 1 = 0;  ///< other accesses have stored another value, or may have
    std::uint32_t values_differ : 1 = 0;  ///< the cells get different values
    std::uint32_t leaves_values : 1 = 0;  ///< the words have these values: see ToldReads
    std::uint32_t value : value_bits =
                              0;  ///< of each cell, or of all if they differ: a hash of its bytes
    std::uint32_t cells = 0;      ///< a mask

    bool is_kind_of(const GridStrip& other) const {
        return writes == other.writes && strong == other.strong &&
               is_volatile_store == other.is_volatile_store;
    }
    /// Both store one value to each cell that both access.
    bool has_value_of(const GridStrip& other) const {
        return has_value && other.has_value && value == other.value &&
               values_differ == other.values_differ && (!values_differ || cells == other.cells);
    }
    /// Returns true for a race, if different blocks access a cell.
    bool conflicts_with(const GridStrip& other) const {
        const bool may_meet =
            strong && other.strong && !(is_volatile_store && other.is_volatile_store);
        return (writes || other.writes) && !may_meet;
    }
};

/// The accesses to an allocation or a variable in global memory, in rows of 32 cells.
class GridStrips {
  public:
    static constexpr std::uint32_t row_cells = 32;

    /// Cells have `cell_bytes` bytes, a power of two. The rows are made when they are needed first,
    /// which throws std::bad_alloc: most large arrays are only read, and need none.
    GridStrips(std::uint64_t begin, std::uint64_t end, std::uint32_t cell_bytes);

    std::uint64_t begin() const { return begin_; }
    std::uint64_t end() const { return end_; }
    bool holds(std::uint64_t address, std::uint64_t bytes) const {
        return address >= begin_ && address < end_ && bytes <= end_ - address;
    }
    std::uint64_t cells() const { return ((end_ - begin_ - 1) >> shift_) + 1; }
    std::uint64_t cell_of(std::uint64_t address) const { return (address - begin_) >> shift_; }
    std::uint64_t address_of(std::uint64_t row, std::uint32_t cell) const {
        return begin_ + ((row * row_cells + cell) << shift_);
    }

    /// A load of neighbouring words by all lanes of a warp, at an event.
    struct WaitingLoad {
        std::uint64_t first = 0;  ///< address of the first lane
        std::uint32_t event = 0;
    };
    /// Loads of memory that no block has written so far, in their order: without a write they have
    /// no races.
    std::vector<WaitingLoad>& waiting_loads() { return waiting_loads_; }

    /// A block writes some of it.
    bool has_writes() const { return has_writes_; }
    /// The rows that have strips.
    std::span<const std::uint64_t> rows() const { return rows_with_strips_; }
    /// Weak loads of a block by which a race can't be found that is not found without them: the row
    /// has no writes, and two lower blocks load each of the cells.
    bool is_settled(std::uint64_t row, std::uint32_t cells, std::uint32_t block) const {
        return rows_ && (cells & ~rows_[row].settled) == 0 && block >= rows_[row].settled_for;
    }
    /// Some strip of the row has one of these cells.
    bool has_strips_of(std::uint64_t row, std::uint32_t cells) const {
        return rows_ && (rows_[row].in_strips & cells) != 0;
    }
    /// Two blocks below `block` load these cells.
    void settle(std::uint64_t row, std::uint32_t cells, std::uint32_t block) {
        Row& settled = at(row);
        if (settled.has_writes || block > most_settled_for) return;
        settled.settled |= cells;
        if (settled.settled_for < block) settled.settled_for = block & most_settled_for;
    }
    /// The row has accesses that conflict. False if that is known.
    bool suspect(std::uint64_t row) {
        const bool is_new = !at(row).is_suspect;
        at(row).is_suspect = true;
        return is_new;
    }
    /// Calls f(strip) for each strip of a row, from the newest to the oldest one.
    template <typename F>
    void for_strips(std::uint64_t row, F&& f) {
        for (std::uint32_t s = at(row).first; s; s = strips_[s].next) f(strips_[s]);
    }
    /// Likewise, and removes the strips for which f returns true.
    template <typename F>
    void remove_strips(std::uint64_t row, F&& f) {
        Row& of = at(row);
        std::uint32_t before = 0;
        for (std::uint32_t s = of.first; s;) {
            const std::uint32_t next = strips_[s].next;
            if (!f(strips_[s])) {
                before = s;
            } else {
                if (before)
                    strips_[before].next = next;
                else
                    of.first = next;
                strips_[s].next = std::exchange(free_, s) & next_mask;
            }
            s = next;
        }
    }
    /// Adds a strip, unless there are too many.
    void add(std::uint64_t row, const GridStrip& strip) {
        has_writes_ |= strip.writes;
        Row& to = at(row);
        if (strip.writes) {
            to.has_writes = true;
            to.settled = 0;
        }
        if (!free_ && strips_.size() >= most_strips) return;
        if (!to.in_strips) rows_with_strips_.push_back(row);
        to.in_strips |= strip.cells;
        std::uint32_t place = free_;
        if (place) {
            free_ = strips_[place].next;
            strips_[place] = strip;
        } else {
            place = std::uint32_t(strips_.size());
            strips_.push_back(strip);
        }
        strips_[place].next = std::exchange(to.first, place) & next_mask;
    }

    /// Blocks whose accesses have no strips, and do not conflict with each other, leave two masks
    /// of the cells of each row. Returns true if an access to `cells` cells from `cell` on
    /// conflicts with one of them, or with a strip of an event below `own_event`.
    bool conflicts(std::uint64_t cell, std::uint64_t cells, bool writes,
                   std::uint32_t own_event) const;
    bool conflicts(std::uint64_t row, const GridStrip& strip) const {
        return rows_ && strip.cells & (strip.writes ? rows_[row].accessed : rows_[row].written);
    }
    /// Adds an access of such a block.
    void add_cells(std::uint64_t cell, std::uint64_t cells, bool writes);
    /// Adds such an access, up to the first row in which it conflicts(); false if there is one.
    bool add_alone(std::uint64_t cell, std::uint64_t cells, bool writes, std::uint32_t own_event);
    /// Blocks have read memory to which no block wrote until then, and left no masks of it. If
    /// has_writes() is true at the end of the launch, all their accesses have to be recorded.
    void leave_out_reads() { has_left_out_reads_ = true; }
    bool has_left_out_reads() const { return has_left_out_reads_; }
    /// Adds the masks of `other`, which has the same memory; returns false if they conflict.
    bool join_cells(const GridStrips& other);

  private:
    struct Row {
        std::uint32_t first = 0;                  ///< strip; 0: none
        std::uint32_t in_strips = 0;              ///< mask of the cells of its strips
        std::uint32_t accessed = 0, written = 0;  ///< masks of cells: see add_cells()
        std::uint32_t settled = 0;                ///< mask of cells: see settle()
        std::uint32_t settled_for : 30 = 0;       ///< blocks from this one on
        std::uint32_t is_suspect : 1 = 0;         ///< see suspect()
        std::uint32_t has_writes : 1 = 0;         ///< a strip is one of writes
    };

    Row& at(std::uint64_t row) {
        if (!rows_) make_rows();
        return rows_[row];
    }
    void make_rows();
    /// Some cells get masks.
    void extend(std::uint64_t cell, std::uint64_t cells) {
        cells_from_ = std::min(cells_from_, cell / row_cells);
        cells_to_ = std::max(cells_to_, (cell + cells - 1) / row_cells + 1);
    }
    static void add(Row& row, std::uint32_t cells, bool writes) {
        row.accessed |= cells;
        if (writes) row.written |= cells;
    }
    bool conflicts(const Row& row, std::uint32_t cells, bool writes, std::uint32_t own_event) const;
    /// Calls f(row, mask) for each row of some cells, until it returns false. Returns f's answer.
    template <typename F>
    static bool for_rows(std::uint64_t cell, std::uint64_t cells, F&& f) {
        for (const std::uint64_t end = cell + cells; cell < end;) {
            const std::uint64_t in_row = cell % row_cells,
                                n = std::min<std::uint64_t>(row_cells - in_row, end - cell);
            if (!f(cell / row_cells, ~0u >> (row_cells - n) << in_row)) return false;
            cell += n;
        }
        return true;
    }

    static constexpr std::uint32_t most_settled_for = (1u << 30) - 1;
    static constexpr std::uint32_t next_mask = (1u << 26) - 1;
    static constexpr std::size_t most_strips = 1 << 23;  // 128 MiB

    std::uint64_t begin_, end_;
    unsigned shift_;
    bool has_writes_ = false;
    /// Rows from the first one on and below the second one have masks of cells.
    std::uint64_t cells_from_ = ~std::uint64_t(0), cells_to_ = 0;
    bool has_left_out_reads_ = false;
    std::size_t rows_number_;
    struct Release {
        std::size_t mapped;  ///< bytes; 0: calloc() has allocated them
        void operator()(Row* rows) const;
    };
    std::unique_ptr<Row[], Release> rows_{nullptr, Release{0}};  ///< or null
    std::vector<WaitingLoad> waiting_loads_;
    std::vector<std::uint64_t> rows_with_strips_;
    std::vector<GridStrip> strips_;  ///< the first one is not used
    std::uint32_t free_ = 0;         ///< a strip that was removed, and so on by `next`; 0: none
};

inline bool GridStrips::conflicts(const Row& row, std::uint32_t cells, bool writes,
                                  std::uint32_t own_event) const {
    if (cells & (writes ? row.accessed : row.written)) return true;
    for (std::uint32_t s = row.first; s; s = strips_[s].next)
        if (strips_[s].cells & cells && strips_[s].event < own_event &&
            (writes || strips_[s].writes))
            return true;
    return false;
}

inline bool GridStrips::add_alone(std::uint64_t cell, std::uint64_t cells, bool writes,
                                  std::uint32_t own_event) {
    has_writes_ |= writes;
    extend(cell, cells);
    return for_rows(cell, cells, [&](std::uint64_t number, std::uint32_t mask) {
        Row& row = at(number);
        if (conflicts(row, mask, writes, own_event)) return false;
        add(row, mask, writes);
        return true;
    });
}

}  // namespace warpscope::emulator
