#include "ui/source/kernel_text.h"

#include <gtest/gtest.h>

#include <string>

namespace warpscope::ui {
namespace {

/// One letter for each character's ink: k keyword, t type, c CUDA, n number, s text, # comment,
/// d directive, . plain.
std::string inks(std::string_view line, const std::vector<InkSpan>& spans) {
    std::string letters(line.size(), '.');
    for (const InkSpan& span : spans)
        for (std::size_t i = span.begin; i < span.end; ++i)
            letters[i] = ".ktcns#d"[std::size_t(span.ink)];
    return letters;
}

std::string cuda(std::string_view line, bool in_comment = false) {
    return inks(line, ink_cuda(line, in_comment));
}

std::string ptx(std::string_view line) {
    return inks(line, ink_ptx(line));
}

TEST(SourceColourTest, ColoursKeywordsTypesAndCudaWords) {
    EXPECT_EQ(cuda("__shared__ float t[16];"), "cccccccccc.ttttt...nn..");
    EXPECT_EQ(cuda("if (Sync) __syncthreads();"), "kk........ccccccccccccc...");
    EXPECT_EQ(cuda("return tile[threadIdx.x];"), "kkkkkk......ccccccccc....");
    EXPECT_EQ(cuda("iffy floats"), "...........");
}

TEST(SourceColourTest, ColoursWholeNumbersAndNoMore) {
    EXPECT_EQ(cuda("2.0f*pi-1e-7+0xffu-.5"), "nnnn....nnnn.nnnnn.nn");
    EXPECT_EQ(cuda("x2 + 1'000"), ".....nnnnn");
}

TEST(SourceColourTest, CommentsContinueOverLinesToTheirEnd) {
    EXPECT_EQ(cuda("a; // if"), "...#####");
    bool in_comment = false;
    EXPECT_EQ(inks("int a /* if", ink_cuda("int a /* if", in_comment)), "ttt...#####");
    EXPECT_TRUE(in_comment);
    EXPECT_EQ(inks("if", ink_cuda("if", in_comment)), "##");
    EXPECT_TRUE(in_comment);
    EXPECT_EQ(inks("x */ if", ink_cuda("x */ if", in_comment)), "####.kk");
    EXPECT_FALSE(in_comment);
    EXPECT_EQ(cuda("a /* b */ if"), "..#######.kk");
}

TEST(SourceColourTest, ColoursStringsAndDirectives) {
    EXPECT_EQ(cuda("asm(\"// \\\" if\");"), "kkk.ssssssssss..");
    EXPECT_EQ(cuda("#define N 4"), "ddddddd...n");
    EXPECT_EQ(cuda(""), "");
    EXPECT_EQ(cuda("\"open"), "sssss");
}

TEST(SourceColourTest, ColoursPtxOpcodesRegistersAndBarriers) {
    EXPECT_EQ(ptx("ld.shared.f32 %f1, [%r2+4];"), "kkkkkkkkkkkkk.ttt...ttt.n..");
    EXPECT_EQ(ptx("bar.sync 0;"), "cccccccc.n.");
    EXPECT_EQ(ptx("@%p1 bra $L__BB0_2;"), ".ttt.kkk.ddddddddd.");
    EXPECT_EQ(ptx("mov.u32 %r1, %tid.x;"), "kkkkkkk.ttt..tttttt.");
    EXPECT_EQ(ptx("$L__BB0_2:"), "ddddddddd.");
}

}  // namespace
}  // namespace warpscope::ui
