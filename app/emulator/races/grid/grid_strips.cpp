#include "emulator/races/grid/grid_strips.h"

#include <algorithm>
#include <bit>
#include <new>

#include "emulator/warp/memory.h"

namespace warpscope::emulator {

static_assert(sizeof(GridStrip) == 16);

GridStrips::GridStrips(std::uint64_t begin, std::uint64_t end, std::uint32_t cell_bytes)
    : begin_(begin),
      end_(end),
      shift_(unsigned(std::countr_zero(cell_bytes))),
      rows_number_(((end - begin) >> shift_) / row_cells + 1) {}

// calloc(), because most rows, and most of what is reserved, are never touched.
void GridStrips::make_rows() {
    rows_.reset(static_cast<Row*>(std::calloc(rows_number_, sizeof(Row))));
    if (!rows_) throw std::bad_alloc();
    prefer_large_pages(rows_.get(), rows_number_ * sizeof(Row));
    strips_.reserve(std::min(rows_number_, most_strips));
    strips_.emplace_back();
}

bool GridStrips::conflicts(std::uint64_t cell, std::uint64_t cells, bool writes,
                           std::uint32_t own_event) const {
    return rows_ && !for_rows(cell, cells, [&](std::uint64_t row, std::uint32_t mask) {
               return !conflicts(rows_[row], mask, writes, own_event);
           });
}

void GridStrips::add_cells(std::uint64_t cell, std::uint64_t cells, bool writes) {
    has_writes_ |= writes;
    has_cells_ = true;
    for_rows(cell, cells, [&](std::uint64_t row, std::uint32_t mask) {
        add(at(row), mask, writes);
        return true;
    });
}

bool GridStrips::join_cells(const GridStrips& other) {
    has_writes_ |= other.has_writes_;
    has_left_out_reads_ |= other.has_left_out_reads_;
    if (!other.has_cells_) return true;
    has_cells_ = true;
    std::uint32_t both = 0;
    for (std::size_t row = 0; row < rows_number_; ++row) {
        Row& own = at(row);
        const Row& added = other.rows_[row];
        both |= (own.accessed & added.written) | (own.written & added.accessed);
        own.accessed |= added.accessed;
        own.written |= added.written;
    }
    if (both) return false;
    for (const std::uint64_t row : rows_with_strips_)
        for (std::uint32_t s = rows_[row].first; s; s = strips_[s].next)
            if (other.conflicts(row, strips_[s])) return false;
    return true;
}

}  // namespace warpscope::emulator
