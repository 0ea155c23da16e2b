#pragma once

#if defined(__SSE__)
#include <xmmintrin.h>
#endif

namespace warpscope::emulator {

// Whether this thread's float arithmetic flushes subnormal operands and results to zero, as PTX's
// .ftz does, while the object lives.
class SubnormalMode {
  public:
#if defined(__SSE__)
    explicit SubnormalMode(bool flush) : before_(_mm_getcsr()) {
        constexpr unsigned flush_bits = 0x8040;  // FTZ, DAZ
        _mm_setcsr(flush ? before_ | flush_bits : before_ & ~flush_bits);
    }
    ~SubnormalMode() {
        _mm_setcsr(before_);
    }
#else
    explicit SubnormalMode(bool) {}
#endif
    SubnormalMode(const SubnormalMode&) = delete;
    SubnormalMode& operator=(const SubnormalMode&) = delete;

  private:
#if defined(__SSE__)
    unsigned before_;
#endif
};

}  // namespace warpscope::emulator
