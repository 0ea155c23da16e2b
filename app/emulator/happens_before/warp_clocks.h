#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "emulator/program/lanes.h"

namespace warpscope::emulator {

/// A vector clock, by thread.
using ThreadClock = std::vector<std::uint32_t>;

/// The clocks of a block's threads. Lanes of a warp that know of equal events share one clock, so
/// that what a whole warp does costs one join in place of 32.
class WarpClocks {
  public:
    using Lanes = std::uint32_t;  ///< a mask

    /// All clocks have this many entries, and are zero.
    void begin_launch(std::size_t threads, std::size_t entries);
    /// Lanes may share the clock of their warp again, whatever it has.
    void share_all() { sharing_.fill(~0u); }
    /// Adds entries, which are zero.
    void resize(std::size_t entries);
    /// Makes the entries from this one on zero.
    void clear_from(std::size_t entry);

    const ThreadClock& operator[](std::uint32_t thread) const {
        return is_shared(thread) ? shared_[thread / 32] : own_[thread];
    }
    ThreadClock& own(std::uint32_t thread);  ///< which the thread shares no longer
    /// From now on these lanes share a clock, and no other lanes do.
    ThreadClock& share(std::uint32_t warp, Lanes lanes, const ThreadClock& clock);
    /// The lanes share a clock, and no other lanes do: that one. Else nullptr.
    ThreadClock* shared_by(std::uint32_t warp, Lanes lanes) {
        return sharing_[warp] == lanes ? &shared_[warp] : nullptr;
    }

    /// Calls f(clock) for the clocks of these lanes, once for each.
    template <typename F>
    void for_clocks(std::uint32_t warp, Lanes lanes, F&& f) const {
        if (sharing_[warp] & lanes) f(shared_[warp]);
        for_each_lane(lanes & ~sharing_[warp], [&](unsigned lane) { f(own_[warp * 32 + lane]); });
    }
    /// Calls f(clock) for the clocks of these lanes, which may change: other lanes have others.
    template <typename F>
    void change(std::uint32_t warp, Lanes lanes, F&& f) {
        const Lanes in = sharing_[warp] & lanes, out = sharing_[warp] & ~lanes;
        if (in && out) keep_apart(warp, std::popcount(in) > std::popcount(out) ? out : in);
        if (sharing_[warp] & lanes) f(shared_[warp]);
        for_each_lane(lanes & ~sharing_[warp], [&](unsigned lane) { f(own_[warp * 32 + lane]); });
    }

  private:
    bool is_shared(std::uint32_t thread) const { return sharing_[thread / 32] >> thread % 32 & 1; }
    void keep_apart(std::uint32_t warp, Lanes lanes) {
        for_each_lane(lanes, [&](unsigned lane) { own(warp * 32 + lane); });
    }

    std::array<Lanes, 32> sharing_{};  ///< by warp: the lanes that have its clock in shared_
    std::vector<ThreadClock> shared_;  ///< by warp
    std::vector<ThreadClock> own_;     ///< by thread; without a meaning where it shares one
};

}  // namespace warpscope::emulator
