#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "emulator/observe/observer.h"
#include "emulator/warp/warp.h"

namespace warpscope::emulator {

/// The pages of global memory that a block accesses in one epoch, as one range of bytes from 0 on,
/// so that the race detector can treat them as it treats shared memory.
class GlobalWindow {
  public:
    /// Forgets all pages.
    void clear();
    /// The access with addresses in the window, and gives places to its pages that have none. The
    /// result points into `access` and into this object, and is valid until the next call.
    Access place(const Access& access);
    std::uint64_t bytes() const { return pages_.size() << page_bits; }
    /// Returns the address in global memory of a byte of the window.
    std::uint64_t address_of(std::uint64_t byte) const {
        return (pages_[byte >> page_bits] << page_bits) | (byte & (page_bytes - 1));
    }

  private:
    static constexpr unsigned page_bits = 9;
    /// Small, so that cells lie close together.
    static constexpr std::uint64_t page_bytes = 1u << page_bits;

    /// Returns what has to be added to an address in this page.
    std::uint64_t shift_of(std::uint64_t page);

    /// An entry of the hash table. It is free unless it is of the current generation, so clear()
    /// takes no time.
    struct Place {
        std::uint64_t page = 0, place = 0;
        std::uint64_t generation = 0;
    };
    Place& find(std::uint64_t page);

    std::vector<std::uint64_t> pages_;  ///< the number of the page of global memory at each place
    std::vector<Place> table_ = std::vector<Place>(64);
    std::uint64_t generation_ = 1;
    std::array<std::uint64_t, lanes_per_warp> addresses_{};
    static constexpr std::uint64_t no_page = ~std::uint64_t(0);
    std::uint64_t newest_page_ = no_page, newest_shift_ = 0;
};

}  // namespace warpscope::emulator
