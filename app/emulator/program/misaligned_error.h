#pragma once

#include "emulator/program/error.h"

namespace warpscope::emulator {

/// The address of an access is no multiple of its width: a status of its own in CUDA.
class MisalignedError : public AccessError {
  public:
    using AccessError::AccessError;
};

}  // namespace warpscope::emulator
