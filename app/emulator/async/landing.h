#pragma once

#include <cstdint>
#include <vector>

namespace warpscope::emulator {

/// When an asynchronous copy writes its destination. PTX leaves that open, up to the wait for it.
enum class Landing : std::uint8_t {
    random,  ///< at any time, from the seed
    at_once,
    late  ///< when a thread waits for it and no thread of the block can go on
};

/// A copy that does not land at once although Landing says so.
struct HeldCopy {
    std::uint32_t block = 0, warp = 0;
    std::uint32_t number = 0;  ///< among those that the warp starts, from 1 on
    std::uint32_t pc = 0;      ///< of the instruction that has started it; unused in a list
    bool late = false;         ///< as Landing::late; else at the end of the turn that starts it
    bool is(const HeldCopy& other) const {
        return block == other.block && warp == other.warp && number == other.number;
    }
};

}  // namespace warpscope::emulator
