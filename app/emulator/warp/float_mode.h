#pragma once

#include <cfenv>

#if defined(__SSE__)
#include <xmmintrin.h>
#endif

namespace warpscope::emulator {

/// While the object lives, sets how the float arithmetic of this thread, scalar and SIMD, rounds
/// (`rounding` is one of the FE_ constants), and whether it flushes subnormal operands and results
/// to zero, as .ftz does in PTX.
class FloatMode {
  public:
#if defined(__SSE__)
    explicit FloatMode(bool flush, int rounding = FE_TONEAREST) : before_(_mm_getcsr()) {
        constexpr unsigned flush_bits = 0x8040, rounding_bits = 0x6000;  // FTZ and DAZ; RC
        // The FE_ constants are bits of the x87 control word; in MXCSR they are 3 bits higher.
        _mm_setcsr((before_ & ~(flush_bits | rounding_bits)) | (flush ? flush_bits : 0) |
                   unsigned(rounding) << 3);
    }
    ~FloatMode() {
        _mm_setcsr(before_);
    }
#else
    explicit FloatMode(bool, int rounding = FE_TONEAREST) : before_(std::fegetround()) {
        std::fesetround(rounding);
    }
    ~FloatMode() {
        std::fesetround(before_);
    }
#endif
    FloatMode(const FloatMode&) = delete;
    FloatMode& operator=(const FloatMode&) = delete;

  private:
#if defined(__SSE__)
    unsigned before_;
#else
    int before_;
#endif
};

}  // namespace warpscope::emulator
