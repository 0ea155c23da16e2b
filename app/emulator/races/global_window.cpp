#include "emulator/races/global_window.h"

namespace warpscope::emulator {

void GlobalWindow::clear() {
    if (pages_.empty()) return;
    pages_.clear();
    ++generation_;
    newest_page_ = no_page;
}

GlobalWindow::Place& GlobalWindow::find(std::uint64_t page) {
    std::size_t at = (page * 0x9E3779B97F4A7C15u >> 32) % table_.size();
    while (table_[at].generation == generation_ && table_[at].page != page)
        at = (at + 1) % table_.size();
    return table_[at];
}

std::uint64_t GlobalWindow::shift_of(std::uint64_t page) {
    if (Place& known = find(page); known.generation == generation_)
        return (known.place - page) << page_bits;
    pages_.push_back(page);
    if (pages_.size() * 2 > table_.size()) {
        table_.assign(table_.size() * 2, {});
        for (std::size_t p = 0; p < pages_.size(); ++p)
            find(pages_[p]) = {pages_[p], p, generation_};
    } else {
        find(page) = {page, pages_.size() - 1, generation_};
    }
    return (pages_.size() - 1 - page) << page_bits;
}

Access GlobalWindow::place(const Access& access) {
    Access placed = access;
    placed.lane_addresses = addresses_.data();
    placed.consecutive = access.is_consecutive();
    std::uint64_t odd = 0;
    const std::uint32_t mask = access.same_address ? access.mask & (0 - access.mask) : access.mask;
    for (std::uint32_t lanes = mask; lanes; lanes &= lanes - 1) {
        const auto lane = unsigned(std::countr_zero(lanes));
        const std::uint64_t address = access.lane_addresses[lane];
        if (address >> page_bits != newest_page_) {
            newest_page_ = address >> page_bits;
            newest_shift_ = shift_of(newest_page_);
        }
        addresses_[lane] = address + newest_shift_;
        odd |= address;
    }
    placed.checked |= (odd & (access.bytes - 1)) == 0;
    // Neighbouring pages need not have neighbouring places.
    placed.consecutive &=
        addresses_[lanes_per_warp - 1] - addresses_[0] == (lanes_per_warp - 1) * access.bytes;
    placed.consecutive_halves = placed.consecutive;
    return placed;
}

}  // namespace warpscope::emulator
