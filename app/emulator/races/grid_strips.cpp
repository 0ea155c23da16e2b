#include "emulator/races/grid_strips.h"

#include <algorithm>
#include <bit>
#include <new>

namespace warpscope::emulator {

static_assert(sizeof(GridStrip) == 16);

// calloc(), because most rows of large memory are never used; neither is most of what is reserved.
GridStrips::GridStrips(std::uint64_t begin, std::uint64_t end, std::uint32_t cell_bytes)
    : begin_(begin),
      end_(end),
      shift_(unsigned(std::countr_zero(cell_bytes))),
      rows_number_(((end - begin) >> shift_) / row_cells + 1),
      first_(static_cast<std::uint32_t*>(std::calloc(rows_number_, sizeof(std::uint32_t))),
             &std::free) {
    if (!first_) throw std::bad_alloc();
    strips_.reserve(std::min(rows_number_, most_strips));
    strips_.emplace_back();
}

}  // namespace warpscope::emulator
