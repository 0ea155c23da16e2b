#pragma once

#include "emulator/program/error.h"

namespace warpscope::emulator {

/// An access to global memory that is outside all allocations.
class GlobalAccessError : public AccessError {
  public:
    GlobalAccessError(const AccessError& error, std::uint64_t address)
        : AccessError(error), address(address) {}
    std::uint64_t address;
};

}  // namespace warpscope::emulator
