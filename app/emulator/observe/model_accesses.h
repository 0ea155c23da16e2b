#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "emulator/observe/observer.h"

namespace warpscope::emulator {

/// Accesses of a block to shared and global memory, in the order in which they were recorded.
/// Of lanes that access bytes that follow each other, only the first address is kept: most
/// accesses of large launches are of this kind, and each host thread of a launch keeps a model.
class ModelAccesses {
  public:
    using Addresses = std::array<std::uint64_t, lanes_per_warp>;

    std::size_t size() const { return kept_.size(); }
    std::uint32_t pc(std::size_t number) const { return kept_[number].access.pc; }
    bool is_global(std::size_t number) const { return kept_[number].is_global; }
    /// Sets Access::consecutive of what it keeps, where that is so.
    void add(const Access& access, bool is_global);
    /// Returns an access with all of its addresses moved by `distance`. It points into `addresses`.
    Access moved(std::size_t number, std::uint64_t distance, Addresses& addresses) const;

    /// Calls f(access) for the accesses to global, or to shared memory.
    template <typename F>
    void for_all(bool global, F&& f) const {
        Addresses addresses;
        for (std::size_t k = 0; k < size(); ++k)
            if (is_global(k) == global) f(moved(k, 0, addresses));
    }

  private:
    struct Kept {
        Access access;              ///< without lane_addresses
        std::size_t addresses = 0;  ///< index of the first one in addresses_
        bool is_global = false;
    };

    std::vector<Kept> kept_;
    std::vector<std::uint64_t> addresses_;  ///< one of each access, or one of each lane
};

}  // namespace warpscope::emulator
