#pragma once

#include <cstdint>
#include <vector>

#include "emulator/observe/observer.h"

namespace warpscope::emulator {

/// Says that the extern arrays of a kernel are one memory; empty for a kernel that has one at most.
files::Sentence extern_arrays_are_one(const Kernel& kernel);

/// Finds elements of extern arrays that another extern array has overwritten: a thread writes one
/// by one name, a thread writes there by another name, and a thread reads it by the first name.
/// Memory that a kernel uses again by another name is none of that. Not in cooperative launches,
/// and not in clusters.
class DynamicArrays {
  public:
    void begin_launch(const Kernel& kernel, const LaunchShape& launch);
    void begin_block() { bytes_.clear(); }
    /// Follows an access to extern array `base`, an index into Kernel::bases. Returns the lanes
    /// that read what another array has overwritten.
    std::uint32_t follow(const Access& access, int base);

  private:
    struct Byte {
        std::uint8_t newest = 0;   ///< array that has written it, as a bit; 0: none
        std::uint8_t writers = 0;  ///< arrays that have written it
    };
    bool is_on_ = false;
    std::uint32_t begin_ = 0;         ///< of the arrays in shared memory
    std::vector<std::uint8_t> bits_;  ///< by base; 0: not watched
    std::vector<Byte> bytes_;
};

}  // namespace warpscope::emulator
