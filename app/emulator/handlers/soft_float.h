#pragma once

#include "emulator/handlers/operations.h"
#include "emulator/ptx/opcodes.h"

/// Arithmetic of float and double that rounds and flushes as an instruction asks, on CPUs that
/// round to the nearest value only: with integers, exactly.
namespace warpscope::emulator::soft {

struct Mode {
    Rounding rounding = Rounding::nearest;
    bool flushes = false;  ///< subnormal sources and results become zeros of their sign: of float
};

/// The result of fadd, fsub, fmul, fma, fdiv, frcp or fsqrt.
template <class F>
F computed(Operation operation, F a, F b, F c, Mode mode);
float narrowed(double a, Mode mode);

}  // namespace warpscope::emulator::soft
