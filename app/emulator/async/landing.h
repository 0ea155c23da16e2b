#pragma once

#include <cstdint>

namespace warpscope::emulator {

/// When an asynchronous copy writes its destination. PTX leaves that open, up to the wait for it.
enum class Landing : std::uint8_t {
    random,  ///< at any time, from the seed
    at_once,
    late  ///< when a thread waits for it and no thread of the block can go on
};

}  // namespace warpscope::emulator
