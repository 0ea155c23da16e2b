#include <fmt/format.h>

#include "instructions/warp_program.h"

/// Matrices between shared memory and registers: ldmatrix, stmatrix, movmatrix.
namespace warpscope::tests {
namespace {

class MatrixInstructions : public OnDevices {};
WARPSCOPE_ON_DEVICES(MatrixInstructions);

/// The PTX ISA, "ldmatrix": lane l has elements 2 (l % 4) and 2 (l % 4) + 1 of row l / 4 of each
/// matrix; with .trans, of column l / 4. Row r of matrix m begins where lane 8 m + r says.
Word32 element_pair(unsigned lane, bool transposed,
                    const std::function<Word32(unsigned, unsigned)>& element) {
    const unsigned first = lane / 4, second = lane % 4 * 2;
    return transposed ? element(second, first) | element(second + 1, first) << 16
                      : element(first, second) | element(first, second + 1) << 16;
}

/// Each lane has stored four words at 16 times its number, and gives the address of the row of lane
/// 5 l % 32.
TEST_P(MatrixInstructions, LoadMatrices) {
    for (const unsigned count : {1u, 2u, 4u})
        for (const bool transposed : {false, true}) {
            const std::string form = fmt::format("ldmatrix.sync.aligned.m8n8.x{}{}.shared.b16",
                                                 count, transposed ? ".trans" : "");
            const WarpProgram program{
                "shl.b32 %r0, %lane, 4; add.u32 %r0, %r0, %base;\n"
                "st.shared.v4.b32 [%r0], {%i0, %i1, %i2, %i3};\nbar.sync 0;\n"
                "mul.lo.u32 %r1, %lane, 80; and.b32 %r1, %r1, 511; add.u32 %r1, %r1, %base;\n" +
                    form + " " + registers('o', 0, count) + ", [%r1];",
                4, count};
            if (record_forms(program.ptx)) continue;
            const std::vector<Word32> words = random_words(4 * lanes);
            const std::vector<Word32> got = run(device(), program, words);
            for (unsigned lane = 0; lane < lanes; ++lane)
                for (unsigned m = 0; m < count; ++m) {
                    const auto element = [&](unsigned row, unsigned column) -> Word32 {
                        const unsigned from = (8 * m + row) * 5 % lanes;
                        return words[from * 4 + column / 2] >> column % 2 * 16 & 0xffff;
                    };
                    EXPECT_EQ(got[lane * count + m], element_pair(lane, transposed, element))
                        << form << ", lane " << lane << ", matrix " << m;
                }
        }
}

/// Rows that are stored to the place of lane 5 l % 32 and loaded from there by ordinary loads.
TEST_P(MatrixInstructions, StoreMatrices) {
    if (!executes(device(), 90)) GTEST_SKIP() << "stmatrix needs sm_90";
    for (const unsigned count : {1u, 2u, 4u})
        for (const bool transposed : {false, true}) {
            const std::string form = fmt::format("stmatrix.sync.aligned.m8n8.x{}{}.shared.b16",
                                                 count, transposed ? ".trans" : "");
            const WarpProgram program{
                "shl.b32 %r0, %lane, 4; add.u32 %r0, %r0, %base;\n"
                "st.shared.v4.b32 [%r0], {%i0, %i0, %i0, %i0};\nbar.sync 0;\n"
                "mul.lo.u32 %r1, %lane, 80; and.b32 %r1, %r1, 511; add.u32 %r1, %r1, %base;\n" +
                    form + " [%r1], " + registers('i', 0, count) +
                    ";\nbar.sync 0;\nld.shared.v4.b32 {%o0, %o1, %o2, %o3}, [%r0];",
                4, 4, 90};
            if (record_forms(program.ptx)) continue;
            const std::vector<Word32> words = random_words(4 * lanes);
            const std::vector<Word32> got = run(device(), program, words);
            std::vector<Word32> expected;
            for (unsigned lane = 0; lane < lanes; ++lane)
                for (unsigned k = 0; k < 4; ++k) expected.push_back(words[lane * 4]);
            for (unsigned m = 0; m < count; ++m)
                for (unsigned row = 0; row < 8; ++row)
                    for (unsigned column = 0; column < 8; ++column) {
                        const unsigned holder =
                            transposed ? 4 * column + row / 2 : 4 * row + column / 2;
                        const Word32 value =
                            words[holder * 4 + m] >> (transposed ? row : column) % 2 * 16 & 0xffff;
                        Word32& cell = expected[(8 * m + row) * 5 % lanes * 4 + column / 2];
                        const unsigned shift = column % 2 * 16;
                        cell = (cell & ~(Word32(0xffff) << shift)) | value << shift;
                    }
            EXPECT_EQ(got, expected) << form;
        }
}

TEST_P(MatrixInstructions, MoveMatrix) {
    const WarpProgram program{"movmatrix.sync.aligned.m8n8.trans.b16 %o0, %i0;"};
    if (record_forms(program.ptx)) return;
    const std::vector<Word32> words = random_words(lanes);
    const std::vector<Word32> got = run(device(), program, words);
    for (unsigned lane = 0; lane < lanes; ++lane)
        EXPECT_EQ(got[lane], element_pair(lane, true, [&](unsigned row, unsigned column) {
                      return words[4 * row + column / 2] >> column % 2 * 16 & 0xffff;
                  }));
}

/// Lanes that have come apart wait for each other: odd lanes take another way to the same
/// instruction.
TEST_P(MatrixInstructions, LanesOfAWarpWaitForEachOther) {
    const WarpProgram program{
        "and.b32 %r0, %lane, 1; setp.eq.u32 %p, %r0, 1; mov.b32 %r1, %i0;\n"
        "@%p bra ODD; not.b32 %r1, %i0; not.b32 %r1, %r1; bra BOTH;\n"
        "ODD: add.u32 %r1, %i0, 0;\nBOTH: movmatrix.sync.aligned.m8n8.trans.b16 %o0, %r1;"};
    if (record_forms(program.ptx)) return;
    const std::vector<Word32> words = random_words(lanes);
    const std::vector<Word32> got = run(device(), program, words);
    for (unsigned lane = 0; lane < lanes; ++lane)
        EXPECT_EQ(got[lane], element_pair(lane, true, [&](unsigned row, unsigned column) {
                      return words[4 * row + column / 2] >> column % 2 * 16 & 0xffff;
                  }));
}

}  // namespace
}  // namespace warpscope::tests
