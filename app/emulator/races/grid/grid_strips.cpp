#include "emulator/races/grid/grid_strips.h"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <new>

#include "emulator/warp/memory.h"

namespace warpscope::emulator {

static_assert(sizeof(GridStrip) == 16);

GridStrips::GridStrips(std::uint64_t begin, std::uint64_t end, std::uint32_t cell_bytes)
    : begin_(begin),
      end_(end),
      shift_(unsigned(std::countr_zero(cell_bytes))),
      rows_number_(((end - begin) >> shift_) / row_cells + 1) {}

void GridStrips::Release::operator()(Row* rows) const {
    if (mapped)
        ::munmap(rows, mapped);
    else
        std::free(rows);
}

// Zero memory that is taken when it is used, because most rows, and most of what is reserved, are
// never touched: those of the device's heap would not fit.
void GridStrips::make_rows() {
    constexpr std::size_t least_mapped_bytes = std::size_t(1) << 30;
    const std::size_t bytes = rows_number_ * sizeof(Row);
    const std::size_t mapped = bytes < least_mapped_bytes ? 0 : bytes;
    void* const rows = mapped ? ::mmap(nullptr, mapped, PROT_READ | PROT_WRITE,
                                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)
                              : std::calloc(1, bytes);
    if (!rows || rows == MAP_FAILED) throw std::bad_alloc();
    rows_ = {static_cast<Row*>(rows), Release{mapped}};
    prefer_large_pages(rows, bytes);
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
    extend(cell, cells);
    for_rows(cell, cells, [&](std::uint64_t row, std::uint32_t mask) {
        add(at(row), mask, writes);
        return true;
    });
}

bool GridStrips::join_cells(const GridStrips& other) {
    has_writes_ |= other.has_writes_;
    has_left_out_reads_ |= other.has_left_out_reads_;
    cells_from_ = std::min(cells_from_, other.cells_from_);
    cells_to_ = std::max(cells_to_, other.cells_to_);
    std::uint32_t both = 0;
    for (std::uint64_t row = other.cells_from_; row < other.cells_to_; ++row) {
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
