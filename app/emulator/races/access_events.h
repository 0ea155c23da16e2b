#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "emulator/happens_before/block_order.h"
#include "emulator/observe/observer.h"

namespace warpscope::emulator {

/// What the lanes of one warp do at one instruction until the warp's next barrier. In a loop these
/// are many accesses, but they are one event.
struct AccessEvent {
    Moment moment;
    std::uint32_t pc = 0;
    std::uint32_t warp = 0;
};

/// Numbers the access events of a launch in time order, from 1 on. Because numbers grow with time,
/// a comparison tells whether an event belongs to the current epoch or block; 0 belongs to neither.
/// The details of an event are kept until its epoch ends.
class AccessEvents {
  public:
    void begin_launch(std::size_t warps, std::size_t instructions);
    /// The block's first number stands for no access: see RaceCells::set_written().
    void begin_block() {
        block_first_ = next_++;
        epoch_first_ = next_;
    }
    void begin_epoch();
    /// Makes later accesses of the warp (of all warps) new events.
    void separate(std::uint32_t warp) { warp_first_[warp] = next_; }
    void separate_all() { warp_first_.fill(next_); }

    /// The event of an access of the warp at this pc; 0 if add() has to make a new one.
    std::uint32_t find(std::uint32_t warp, std::uint32_t pc) const {
        const std::uint32_t newest = newest_[warp * instructions_ + pc];
        return newest < warp_first_[warp] ? 0 : newest;
    }
    std::uint32_t add(const Access& access, const Moment& moment);
    const AccessEvent& operator[](std::uint32_t number) const {
        return events_[number - epoch_first_];
    }

    std::uint32_t block_first() const { return block_first_; }
    std::uint32_t epoch_first() const { return epoch_first_; }
    bool in_epoch(std::uint32_t number) const { return number >= epoch_first_; }
    bool in_block(std::uint32_t number) const { return number >= block_first_; }

    /// True when the epoch has so many events that unused ones should be removed.
    bool is_full() const;
    /// Keeps only the events of this epoch that are marked, by index from epoch_first() on, and
    /// numbers them anew in their order. Returns the new numbers by the old index.
    std::vector<std::uint32_t> compact(const std::vector<bool>& used);
    std::size_t epoch_size() const { return events_.size(); }

    /// True when the numbers are nearly used up.
    bool are_exhausted() const { return next_ > 1u << 31; }
    void restart_numbers();

  private:
    std::vector<AccessEvent> events_;  ///< events of this epoch
    std::size_t instructions_ = 0;     ///< number of instructions of the kernel
    /// Event, indexed by warp and pc; an old one if < warp_first_.
    std::vector<std::uint32_t> newest_;
    std::array<std::uint32_t, 32> warp_first_{};  ///< first event since the warp's last barrier
    std::uint32_t next_ = 1;
    std::uint32_t epoch_first_ = 1, block_first_ = 1;
};

}  // namespace warpscope::emulator
