#include "ui/documents/kernel_lines.h"

#include <gtest/gtest.h>

namespace warpscope::ui {
namespace {

std::string toggled(const std::string& line) {
    return toggle_barriers(line, false);
}

TEST(BarrierMarksTest, TheSemicolonStaysOutsideTheCommentForAFollowingElse) {
    EXPECT_EQ(toggled("    __syncthreads();"), "    /*__syncthreads()*/;");
    EXPECT_EQ(toggled("if (Sync) __syncthreads(); else wait();"),
              "if (Sync) /*__syncthreads()*/; else wait();");
    EXPECT_EQ(toggled("__syncwarp(0xffffffffu);  // all"), "/*__syncwarp(0xffffffffu)*/;  // all");
}

TEST(BarrierMarksTest, TogglingTwiceGivesTheLineBack) {
    for (const std::string line :
         {"__syncthreads();", "\tif (a) __syncthreads ( ) ; // why", "__syncwarp(mask(1, (2)));",
          "int n = __syncthreads_count(a > 0);", "a(); __syncthreads(); b(); __syncwarp();",
          "#define SYNC __syncthreads()"})
        EXPECT_EQ(toggled(toggled(line)), line);
}

TEST(BarrierMarksTest, ABarrierWithAValueLeavesTheThreadsOwnArgument) {
    EXPECT_EQ(toggled("int n = __syncthreads_count(x > 0);"),
              "int n = /*__syncthreads_count*/(x > 0);");
    EXPECT_EQ(toggled("while (__syncthreads_or(/* mine */ open)) step();"),
              "while (/*__syncthreads_or*/(/* mine */ open)) step();");
}

TEST(BarrierMarksTest, AllBarriersOfALineAreToggledTogether) {
    EXPECT_EQ(toggled("__syncthreads(); f(); __syncthreads();"),
              "/*__syncthreads()*/; f(); /*__syncthreads()*/;");
    EXPECT_EQ(toggled("/*__syncthreads()*/; f(); __syncthreads();"),
              "/*__syncthreads()*/; f(); /*__syncthreads()*/;");
}

TEST(BarrierMarksTest, CommentsStringsAndOtherNamesHoldNoBarrier) {
    for (const std::string line :
         {"// __syncthreads();", "/* then __syncthreads() comes */", "f(\"__syncthreads();\");",
          "my__syncthreads();", "__syncthreadsx();", "__syncthreads", "__syncthreads(",
          "__syncwarp(/* all */ mask);", "/*__syncthreads()", "/* a */ b; /* __shared__ */", ""}) {
        EXPECT_TRUE(find_barriers(line, false).empty()) << line;
        EXPECT_EQ(toggled(line), line);
    }
}

TEST(BarrierMarksTest, ACommentFromALineAboveHidesBarriers) {
    EXPECT_TRUE(find_barriers("__syncthreads(); */ a();", true).empty());
    const auto calls = find_barriers("b(); */ __syncthreads();", true);
    ASSERT_EQ(calls.size(), 1U);
    EXPECT_EQ(calls[0], (BarrierCall{8, 23, false}));
    EXPECT_TRUE(find_barriers("/*__syncthreads()*/;", true).empty());
}

TEST(BarrierMarksTest, ABarrierThatWasCommentedOutByHandIsRestored) {
    EXPECT_EQ(toggled("/* __syncthreads(); */"), " __syncthreads(); ");
    EXPECT_EQ(toggled("/*__syncwarp()*/;"), "__syncwarp();");
}

TEST(BarrierMarksTest, TheConditionBeforeABarrierMayStandOnTheLineAbove) {
    EXPECT_EQ(condition_before("a();\n    if (barrier) "), "barrier");
    EXPECT_EQ(condition_before("if (first_barrier)\n        "), "first_barrier");
    EXPECT_EQ(condition_before("while (barrier) "), "");
    EXPECT_EQ(condition_before("f(x); "), "");
    EXPECT_EQ(condition_before(""), "");
}

}  // namespace
}  // namespace warpscope::ui
