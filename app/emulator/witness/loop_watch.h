#pragma once

#include <bit>
#include <cstdint>
#include <optional>

#include "emulator/witness/unit_runner.h"

namespace warpscope::emulator {

/// Notices that a turn comes to a state that it has been in: the warp waits in a loop for another
/// one. It compares with a state that it notes less and less often (Brent 1980).
class LoopWatch {
  public:
    bool is_looping(const UnitRunner& runner) {
        constexpr std::uint64_t few = 64;
        if (++stops_ < few) return false;
        const std::uint64_t now = runner.warp_key();
        if (now == noted_) {
            const UnitRunner::Key whole = runner.key();
            if (whole_ == whole) return true;
            whole_ = whole;
        }
        if (std::has_single_bit(stops_)) {
            noted_ = now;
            whole_.reset();
        }
        return false;
    }

  private:
    std::uint64_t stops_ = 0, noted_ = 0;
    std::optional<UnitRunner::Key> whole_;
};

}  // namespace warpscope::emulator
