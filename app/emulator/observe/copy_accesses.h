#pragma once

#include <functional>

#include "emulator/async/async_copies.h"
#include "emulator/observe/observer.h"

namespace warpscope::emulator {

/// Calls f(access) for the accesses to the sources, or to the destinations, of parts of a copy: one
/// for all lanes, or for a bulk copy one for each aligned power of two of bytes, up to 256.
/// `state`: of the warp.
void for_accesses(const AsyncCopy& copy, std::uint32_t parts, bool destinations, const Warp* state,
                  const std::function<void(const Access&)>& f);

}  // namespace warpscope::emulator
