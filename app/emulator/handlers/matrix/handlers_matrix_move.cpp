// Matrices between memory and the registers of a warp: ldmatrix, stmatrix, movmatrix, and where the
// parts of a fragment of wmma lie (PTX ISA 9.7.14).
#include <bit>
#include <cstring>

#include "emulator/handlers/handlers.h"
#include "emulator/warp/matrices.h"

namespace warpscope::emulator {

namespace {

/// Gives each lane its two elements of a matrix.
void write_matrix(Warp& w, std::uint32_t operand, const std::uint16_t (*rows)[8], bool transposed) {
    if (!operand) return;  // the sink _
    for (std::uint32_t lanes = w.mask; lanes; lanes &= lanes - 1) {
        const auto lane = unsigned(std::countr_zero(lanes));
        std::uint32_t pair = 0;
        for (unsigned half = 0; half < 2; ++half) {
            const MatrixPlace at = matrix_place(lane, half, transposed);
            pair |= std::uint32_t(rows[at.row][at.column]) << 16 * half;
        }
        w.set(operand, lane, pair);
    }
}

}  // namespace

const Instruction* load_matrices(const Instruction* i, Warp& w) {
    if (!w.has_all(w.threads)) return w.wait_for_members(i, w.threads);
    const AccessForm access(i->target);
    std::uint16_t rows[lanes_per_warp][8]{};
    for (std::uint32_t lanes = w.mask & access.addressing_lanes(); lanes; lanes &= lanes - 1) {
        const auto lane = unsigned(std::countr_zero(lanes));
        const std::uint64_t address = lane_address(i, w, access, lane);
        std::memcpy(
            rows[lane],
            w.checked_address(i, lane, access.space, address, matrix_row_bytes, matrix_row_bytes),
            matrix_row_bytes);
    }
    for (unsigned m = 0; m < access.elements; ++m)
        write_matrix(w, i->operands[m], rows + 8 * m, access.transposed);
    return w.cost_point(i, i + 1);
}

const Instruction* store_matrices(const Instruction* i, Warp& w) {
    if (!w.has_all(w.threads)) return w.wait_for_members(i, w.threads);
    const AccessForm access(i->target);
    for (std::uint32_t lanes = w.mask & access.addressing_lanes(); lanes; lanes &= lanes - 1) {
        const auto lane = unsigned(std::countr_zero(lanes));
        const std::uint64_t address = lane_address(i, w, access, lane);
        copy_matrix_row(
            w, *i, lane,
            w.checked_address(i, lane, access.space, address, matrix_row_bytes, matrix_row_bytes));
    }
    return w.cost_point(i, i + 1);
}

const Instruction* find_fragment_parts(const Instruction* i, Warp& w) {
    const FragmentParts form(i->target);
    for (unsigned lane = 0; lane < lanes_per_warp; ++lane) {
        const std::uint64_t base = form.wide_address ? w.get<std::uint64_t>(i->operands[1], lane)
                                                     : w.get<std::uint32_t>(i->operands[1], lane);
        const std::uint64_t stride = w.get<std::uint32_t>(i->operands[2], lane);
        const unsigned first = lane % form.parts * (form.part_bytes / form.element_bytes);
        const std::uint64_t row = lane / form.parts, column = first + form.element;
        const std::uint64_t element =
            form.by_column ? column * stride + row : row * stride + column;
        w.set<std::uint64_t>(i->operands[0], lane,
                             base + std::uint64_t(i->immediate) + element * form.element_bytes);
    }
    return i + 1;
}

const Instruction* transpose_matrix(const Instruction* i, Warp& w) {
    if (!w.has_all(w.threads)) return w.wait_for_members(i, w.threads);
    std::uint16_t rows[8][8];
    for (unsigned lane = 0; lane < lanes_per_warp; ++lane)
        for (unsigned half = 0; half < 2; ++half) {
            const MatrixPlace at = matrix_place(lane, half, false);
            rows[at.row][at.column] =
                std::uint16_t(w.get<std::uint32_t>(i->operands[1], lane) >> 16 * half);
        }
    write_matrix(w, i->operands[0], rows, true);
    return w.cost_point(i, i + 1);
}

}  // namespace warpscope::emulator
