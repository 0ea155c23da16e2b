#pragma once

#include <array>
#include <cstdint>

#include "emulator/observe/observer.h"
#include "emulator/program/module.h"
#include "emulator/warp/warp.h"

namespace warpscope::emulator {

/// A load by all lanes of a warp, of words of global memory that follow each other: as kernels read
/// large arrays. It is known by its instruction and the address of its first lane.
inline bool is_streaming_load(const Access& a) {
    if (a.kind != MemoryAccess::load || a.mask != all_lanes || a.same_address) return false;
    if (a.image != Access::Image::none) return false;  // its instruction says no number of bytes
    if ((a.lane_addresses[0] & (a.bytes - 1)) != 0) return false;  // it fails
    return a.is_consecutive();
}

/// The addresses of 32 lanes that access so many bytes each, which follow each other.
inline std::array<std::uint64_t, lanes_per_warp> neighbouring_addresses(std::uint64_t first,
                                                                        std::uint32_t bytes) {
    std::array<std::uint64_t, lanes_per_warp> addresses;
    for (unsigned lane = 0; lane < lanes_per_warp; ++lane)
        addresses[lane] = first + std::uint64_t(lane) * bytes;
    return addresses;
}

/// The load that was executed earlier. Not copied, because it points to addresses of its own.
class StreamingLoad {
  public:
    StreamingLoad(const Kernel& kernel, std::uint32_t block, std::uint32_t warp, std::uint32_t pc,
                  std::uint64_t first) {
        const std::uint32_t bytes = kernel.lines[pc].bytes;
        addresses_ = neighbouring_addresses(first, bytes);
        access_ = {.block = block,
                   .warp = warp,
                   .mask = all_lanes,
                   .lane_addresses = addresses_.data(),
                   .bytes = bytes,
                   .kind = MemoryAccess::load,
                   .pc = pc,
                   .checked = true,
                   .consecutive = true,
                   .is_over = true};
    }
    StreamingLoad(const StreamingLoad&) = delete;
    StreamingLoad& operator=(const StreamingLoad&) = delete;
    const Access& access() const { return access_; }

  private:
    std::array<std::uint64_t, lanes_per_warp> addresses_;
    Access access_;
};

}  // namespace warpscope::emulator
