#pragma once

#include <cstddef>
#include <cstdint>

#include "emulator/warp/warp.h"

namespace warpscope::emulator {

/// Bytes of a row of a matrix that ldmatrix and stmatrix move: eight elements of 16 bits.
inline constexpr unsigned matrix_row_bytes = 16;

struct MatrixPlace {
    unsigned row = 0, column = 0;
};

/// Which element of an 8x8 matrix a lane has in half `half` of its register: the PTX ISA,
/// "ldmatrix".
constexpr MatrixPlace matrix_place(unsigned lane, unsigned half, bool transposed) {
    const MatrixPlace at{lane / 4, lane % 4 * 2 + half};
    return transposed ? MatrixPlace{at.column, at.row} : at;
}

/// Copies the row whose address a lane gives to stmatrix. The lanes that hold its elements are
/// others.
void copy_matrix_row(const Warp& warp, const Instruction& stmatrix, unsigned lane, std::byte* into);

}  // namespace warpscope::emulator
