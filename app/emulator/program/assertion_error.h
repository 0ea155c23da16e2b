#pragma once

#include "emulator/program/error.h"

namespace warpscope::emulator {

/// assert() of a kernel failed.
class AssertionError : public Error {
  public:
    using Error::Error;
};

}  // namespace warpscope::emulator
