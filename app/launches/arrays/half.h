#pragma once

#include <cstdint>

namespace warpscope::launches {

/// A number of 16 bits: `Digits` binary digits, of which the first is not stored, and exponents
/// from `Least` (IEEE 754, section 3.4).
template <int Digits, int Least>
class ShortFloat {
  public:
    ShortFloat() = default;
    explicit ShortFloat(double value);  ///< rounded to nearest, ties to even
    explicit operator double() const;

  private:
    std::uint16_t bits_ = 0;
};

using Half = ShortFloat<11, -14>;      ///< __half of cuda_fp16.h
using Bfloat16 = ShortFloat<8, -126>;  ///< __nv_bfloat16 of cuda_bf16.h
extern template class ShortFloat<11, -14>;
extern template class ShortFloat<8, -126>;

}  // namespace warpscope::launches
