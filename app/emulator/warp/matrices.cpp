#include "emulator/warp/matrices.h"

namespace warpscope::emulator {

void copy_matrix_row(const Warp& warp, const Instruction& stmatrix, unsigned lane,
                     std::byte* into) {
    const bool transposed = AccessForm(stmatrix.target).transposed;
    const std::uint32_t operand = stmatrix.operands[1 + lane / 8];
    const unsigned row = lane % 8;
    for (unsigned column = 0; column < 8; ++column) {
        const unsigned first = transposed ? column : row, second = transposed ? row : column;
        const auto value = std::uint16_t(warp.get<std::uint32_t>(operand, first * 4 + second / 2) >>
                                         16 * (second % 2));
        std::memcpy(into + column * sizeof(value), &value, sizeof(value));
    }
}

}  // namespace warpscope::emulator
