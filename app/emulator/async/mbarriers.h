#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace warpscope::emulator {

/// An mbarrier object (PTX ISA 9.7.13.15, "mbarrier"): eight bytes of shared memory. A phase ends
/// when all arrivals that it expects have come and the bytes that it expects have been copied.
struct Mbarrier {
    std::uint32_t address = 0;   ///< offset into the block's shared memory
    std::uint32_t expected = 0;  ///< arrivals of each phase
    std::uint32_t pending = 0;   ///< arrivals that are missing in this phase
    std::int64_t bytes = 0;      ///< expected and not yet copied in this phase: the tx-count
    std::uint32_t phase = 0;     ///< phases that have ended
    // For the sentence about a hang. In this phase: bytes that were expected, arrivals that copies
    // have added to the expected ones, and by warp the lanes that have arrived. `arrived_before`
    // has the lanes that arrived in the phase before.
    std::int64_t announced = 0;
    std::uint32_t added = 0;
    std::array<std::uint32_t, 32> arrived{}, arrived_before{};

    bool has_ended(std::uint32_t parity) const { return (phase & 1) != (parity & 1); }
    // Both return false for more arrivals than are pending, of which they count none.
    bool arrive(std::uint32_t warp, unsigned lane, std::uint32_t arrivals);
    bool count(std::uint32_t arrivals);  ///< of a thread of another block
    void add_arrival() { ++pending, ++added; }
    void expect(std::int64_t more) { bytes += more, announced += more; }
    /// After arrivals, or after bytes have been copied: begins the next phase where this one has
    /// all. Returns true then.
    bool end_phase();
    /// What memory holds: the state that arrivals return. PTX leaves its layout open.
    std::uint64_t state() const;
    static std::uint32_t parity_of(std::uint64_t state) { return std::uint32_t(state >> 63); }
    static std::uint32_t pending_of(std::uint64_t state) { return state & largest_count; }

    static constexpr std::uint32_t largest_count = (1u << 20) - 1;
};

/// The mbarrier objects of a block.
class Mbarriers {
  public:
    void clear() { barriers_.clear(); }
    std::span<const Mbarrier> all() const { return barriers_; }
    /// nullptr: mbarrier.init has made none at this address.
    Mbarrier* find(std::uint32_t address);
    Mbarrier& init(std::uint32_t address, std::uint32_t count);
    void invalidate(std::uint32_t address);

  private:
    std::vector<Mbarrier> barriers_;
};

}  // namespace warpscope::emulator
